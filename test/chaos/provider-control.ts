/** The simulator's side door. */
export class ProviderControl {
  readonly #url: string;

  constructor(simulatorUrl: string) {
    this.#url = `${simulatorUrl}/__control`;
  }

  get<T>(path: string): Promise<T> {
    return this.#call<T>('GET', path);
  }

  async post(path: string, body: object): Promise<void> {
    await this.#call('POST', path, JSON.stringify(body));
  }

  async clearFaults(): Promise<void> {
    await this.#call('DELETE', 'faults');
  }

  async #call<T>(method: string, path: string, body?: string): Promise<T> {
    const response = await fetch(`${this.#url}/${path}`, { method, ...(body !== undefined && { body }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`The simulator refused ${method} ${path}: ${text}`);
    return JSON.parse(text) as T;
  }
}
