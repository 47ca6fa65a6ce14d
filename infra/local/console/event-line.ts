import type { StackEvent } from '../stack/stack.ts';

/** What a part is called towards the user. */
const titles: Record<string, string> = {
  'redis-bridge': 'Redis, Upstash REST',
  redis: 'Redis, Upstash REST',
  dynamo: 'DynamoDB',
  sume: 'Sume (simulated)',
  gateway: 'API and functions',
};

/** One line for the user about something that happened to a part. */
export function eventLine(event: StackEvent): string {
  if (event.kind === 'note') return `  note: ${event.text}`;
  if (event.kind === 'begins') return `  ${event.text}`;
  const title = titles[event.name] ?? event.name;
  switch (event.kind) {
    case 'up':
      return row(title, event.part.url, `up in ${Math.round(event.tookMs)} ms`);
    case 'given':
      return row(event.name === 'sume' ? 'Sume' : title, event.url, 'as the environment says');
    case 'died':
      return `  ${title} died (${event.how}); starting it again …`;
    case 'back':
      return row(title, event.part.url, `back after ${Math.round(event.tookMs)} ms`);
    case 'start-failed':
      return `  ${title} did not start: ${event.reason}`;
    case 'given-up':
      return `  ${title} dies again and again: given up.`;
  }
}

function row(title: string, url: string, rest: string): string {
  return `  ${title.padEnd(20)} ${url.padEnd(28)} ${rest}`;
}
