import type { Price } from './prices.ts';

/* Numbers as the document shows them. Written out by hand, so that they do not depend on a machine's language. */

/** With thousands separated; three digits that matter below a hundred. */
export function say(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 100) return grouped(value.toFixed(0));
  const text = value.toPrecision(3);
  return String(Number(text));
}

/** Three digits that matter, for what is only about right. */
export function sayAbout(value: number): string {
  return say(Number(value.toPrecision(3)));
}

export function sayDollars(value: number): string {
  if (value === 0) return '$0';
  if (value < 0.005) return 'under $0.01';
  return `$${value < 100 ? value.toFixed(2) : grouped(value.toFixed(0))}`;
}

export function sayPercent(share: number): string {
  const percent = share * 100;
  return `${percent === 0 ? '0' : percent < 10 ? percent.toFixed(2) : percent.toFixed(1)}%`;
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

export function sayPrice({ dollars, per, unit }: Pick<Price, 'dollars' | 'per' | 'unit'>): string {
  const digits = /^\d+\.\d$/.test(String(dollars)) ? dollars.toFixed(2) : String(dollars);
  return `$${digits} per ${per === 1 ? '' : 'million '}${unit}`;
}
