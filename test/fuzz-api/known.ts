import type { Known } from './values.ts';

const kept = 400;
const kindByPrefix = { job: 'job', whe: 'endpoint', dlv: 'delivery' } as const;

/** Ids, names and cursors that answers have told, to be used again. */
export class KnownThings {
  readonly #lists: Record<Known['known'], string[]> = {
    ...{ job: [], endpoint: [], delivery: [], batch: ['campaign-814'], cursor: [] },
    account: ['sume', 'studio', 'theirs'],
  };

  add(kind: Known['known'], text: string): void {
    const list = this.#lists[kind];
    if (list.includes(text)) return;
    list.push(text);
    if (list.length > kept) list.splice(0, 1);
  }

  /** One of them; of cursors also cut and edited ones. */
  get({ known, pick }: Known): string {
    const list = this.#lists[known];
    const text = list[pick % list.length] ?? 'none';
    if (known !== 'cursor' || pick % 3 === 0) return text;
    return pick % 3 === 1 ? text.slice(0, pick % (text.length + 1)) : `${text.slice(0, -1)}${pick % 10}`;
  }

  /** Takes in what an answer tells, wherever it stands. */
  learn(value: unknown): void {
    if (Array.isArray(value)) {
      for (const one of value.slice(0, 40)) this.learn(one);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (typeof member !== 'string') this.learn(member);
        else if (name === 'next_cursor') this.add('cursor', member);
        else if (name === 'batch') this.add('batch', member);
        else this.#learnId(member);
      }
    } else if (typeof value === 'string') this.#learnId(value);
  }

  #learnId(text: string): void {
    const prefix = /^(job|whe|dlv)_[a-z2-7]{32}$/.exec(text)?.[1];
    if (prefix !== undefined) this.add(kindByPrefix[prefix as keyof typeof kindByPrefix], text);
  }
}
