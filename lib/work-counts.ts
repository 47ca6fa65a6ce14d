/** What was done with the claims so far. */
export interface WorkCounts {
  steps: number;
  lostLeases: number;
  orphans: number;
  broken: number;
  parked: number;
}

export const noWork: WorkCounts = { steps: 0, lostLeases: 0, orphans: 0, broken: 0, parked: 0 };
