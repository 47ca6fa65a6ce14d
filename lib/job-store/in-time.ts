/** One call in all, its repeats included: the SDK's own limits are for the headers, and between two parts of a body. */
const callMaxMs = 9_000;

/**
 * Rejects when the call takes too long. The call itself goes on and is left to its own limits: an abort signal for each would end
 * it, but options on a call make the SDK build its middleware anew (decision 10), and what it may still write is conditional.
 */
export async function inTime<T>(call: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `DynamoDB gave no whole answer within ${callMaxMs} ms.`;
    timer = setTimeout(() => reject(new Error(message)), callMaxMs);
  });
  try {
    return await Promise.race([call(), late]);
  } finally {
    clearTimeout(timer);
  }
}
