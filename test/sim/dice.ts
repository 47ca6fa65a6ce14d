/*
 * Everything that chance decides in a simulation comes from here, and from the seed alone. Each part has dice of its
 * own, so that one part rolling once more does not change what befalls the others.
 */
export class Dice {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    this.#seed = seed;
    [this.#a, this.#b, this.#c] = [hashOf(seed, 1), hashOf(seed, 2), hashOf(seed, 3)];
    for (let i = 0; i < 12; i++) this.roll();
  }

  /** Dice that no roll of these ones changes. */
  fork(name: string): Dice {
    return new Dice(`${this.#seed}/${name}`);
  }

  /** A number in [0, 1): the generator sfc32. */
  readonly roll = (): number => {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 0x1_0000_0000;
  };

  chance(probability: number): boolean {
    return probability > 0 && this.roll() < probability;
  }

  between(least: number, most: number): number {
    return least + this.roll() * (most - least);
  }

  /** A whole number, both ends included. */
  whole(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1));
  }

  /** Small numbers as likely as large ones: each power of ten has the same chance. */
  spread(least: number, most: number): number {
    return least * (most / least) ** this.roll();
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.roll() * list.length)] as T;
  }
}

/** FNV-1a over the text, begun differently for each `lane`. */
export function hashOf(text: string, lane = 0): number {
  let hash = (0x811c9dc5 ^ Math.imul(lane, 0x9e3779b1)) >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
