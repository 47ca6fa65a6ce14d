/** Runs `make` at the first call and keeps what it made; one that failed is made anew at the next call. */
export function oncePerProcess<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
