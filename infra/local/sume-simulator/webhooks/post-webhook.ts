const TIMEOUT_MS = 10_000;

/** One attempt: the status that it was answered with, or null when there was no answer in time. Redirects are not followed. */
export async function postWebhook(
  url: string,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<number | null> {
  try {
    const limits = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: limits });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}
