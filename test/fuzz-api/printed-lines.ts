/** What the handlers print, kept from the terminal: it is looked at, not shown. */
export class PrintedLines {
  readonly #write = process.stdout.write;
  #text = '';

  start(): void {
    process.stdout.write = ((chunk: string | Uint8Array) => {
      this.#text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return true;
    }) as typeof process.stdout.write;
  }

  /** Everything since the last call. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  stop(): void {
    process.stdout.write = this.#write;
  }
}
