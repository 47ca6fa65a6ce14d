import { subscribe, unsubscribe } from 'node:diagnostics_channel';

interface Exchanged {
  request: { headers: unknown };
  response: { statusCode: number };
}

const channel = 'undici:request:headers';

/** Writes that DynamoDB carried out for this process, heard from the HTTP client. One whose condition failed is none. */
export class DynamoWatch {
  #writes: string[] = [];
  readonly #hear = (message: unknown): void => {
    const { request, response } = message as Exchanged;
    const operation = /DynamoDB_\d+\.(\w+)/.exec(String(request.headers))?.[1];
    if (operation === undefined || response.statusCode !== 200) return;
    if (!/^(Get|BatchGet|Query|Scan|Describe)/.test(operation)) this.#writes.push(operation);
  };

  constructor() {
    subscribe(channel, this.#hear);
  }

  /** Each since the last call. */
  writes(): string[] {
    const writes = this.#writes;
    this.#writes = [];
    return writes;
  }

  close(): void {
    unsubscribe(channel, this.#hear);
  }
}
