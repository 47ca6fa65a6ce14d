/** Ends this process when the one that started it is gone, however that went. */
export function endWithParent(): void {
  process.on('disconnect', () => process.exit(0));
  // It may have gone while the modules were being loaded.
  if (!process.connected) process.exit(0);
}
