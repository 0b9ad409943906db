import type { Plan, PlanName } from './types.ts';

/** The limits of each plan. The plan of the calling account counts. */
export const PLANS: Readonly<Record<PlanName, Plan>> = {
  free: { name: 'free', maxApps: 3, analytics: true },
  pro: { name: 'pro', maxApps: 100, analytics: true },
  suspended: { name: 'suspended', maxApps: 0, analytics: false },
};

export const PLAN_NAMES = ['free', 'pro', 'suspended'] as const satisfies readonly PlanName[];
