import type { Plan, PlanName } from './types.ts';

/** A plan names its limits; what counts is the plan of the account that asks. */
export const PLANS: Readonly<Record<PlanName, Plan>> = {
  free: { name: 'free', maxApps: 3, analytics: true },
  pro: { name: 'pro', maxApps: 100, analytics: true },
  suspended: { name: 'suspended', maxApps: 0, analytics: false },
};

export const PLAN_NAMES = ['free', 'pro', 'suspended'] as const satisfies readonly PlanName[];
