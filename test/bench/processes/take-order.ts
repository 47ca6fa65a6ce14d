import type { WorkOrder } from '../messages.ts';

/** Says that this process is up, then waits for its work. The process ends when the benchmark does. */
export function takeOrder(): Promise<WorkOrder> {
  process.on('disconnect', () => process.exit(0));
  const order = new Promise<WorkOrder>((resolve) => process.once('message', resolve));
  process.send?.({ kind: 'ready' });
  return order;
}
