/** Why the run is to end: `asked` by the user (or because the process above us is gone), or by a fault, with its line. */
export type StopReason = { asked: true } | { asked: false; line: string };

export class StopRequest {
  readonly #controller = new AbortController();
  #reason: StopReason | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** Only the first reason counts. */
  stop(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller.abort();
  }

  /** Resolves once the run is to end. */
  stopped(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  /** Ctrl-C, a closed terminal, a polite kill, and the end of the process that started this one (`npm start` itself). */
  listen(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => this.stop({ asked: true }));
    process.on('disconnect', () => this.stop({ asked: true }));
    process.channel?.unref();
    // A terminal or a pipe that is gone must not keep the parts from being stopped in order.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => this.stop({ asked: true }));
  }
}
