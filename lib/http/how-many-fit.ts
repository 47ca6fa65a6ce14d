/** Lambda hands over 6 MB at most, in which every quote of the answer is escaped once more; this leaves room for the rest. */
const answerBytesMax = 5_000_000;

/** How many of them, from the first on, go into one answer: one at least, and all of them nearly always. */
export function howManyFit(views: readonly object[]): number {
  let bytes = 0;
  const tooMany = views.findIndex((view) => {
    bytes += Buffer.byteLength(JSON.stringify(JSON.stringify(view)));
    return bytes > answerBytesMax;
  });
  return tooMany === -1 ? views.length : Math.max(tooMany, 1);
}
