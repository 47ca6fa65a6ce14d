import { type Price, type PriceName, prices } from './prices.ts';

/** One line of a month's bill. */
export interface Part {
  /** What it pays for, e.g. `polling: the drain's time`. */
  what: string;
  price: PriceName;
  /** Units a month. */
  quantity: number;
  /** How the quantity comes about, with the numbers put in. */
  how: string;
}

/** At list prices, before free allowances. */
export function listDollars(parts: readonly Pick<Part, 'price' | 'quantity'>[]): number {
  return parts.reduce((sum, { price, quantity }) => sum + dollarsFor(quantity, prices[price]), 0);
}

/** After the allowances that are free for good, as if nothing else in the account used them. */
export function billedDollars(parts: readonly Part[]): number {
  const used = new Map<PriceName, number>();
  for (const { price, quantity } of parts) used.set(price, (used.get(price) ?? 0) + quantity);
  return [...used].reduce((sum, [name, quantity]) => {
    const price: Price = prices[name];
    return sum + dollarsFor(billedUnits(quantity, price.free), price);
  }, 0);
}

function billedUnits(quantity: number, free: Price['free']): number {
  if (free === undefined) return quantity;
  return quantity <= free.units ? 0 : free.whole ? quantity : quantity - free.units;
}

function dollarsFor(quantity: number, { dollars, per }: Price): number {
  return (quantity / per) * dollars;
}
