import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { listExperiments } from '../model/experiments.ts'
import type { World } from './world.ts'

/** Where one idea is meant, nothing else begins: no other experiment, no proposer, no report on earlier landings. */
export function isTarget(only: World['targetBranch'], branch: string | null): boolean {
  return only === null || branch === only
}

/** The experiment that carries the one idea that is meant: the latest, should its branch have had several. */
export function findTargetExperiment(
  campaign: Pick<Campaign, 'experiments'>,
  only: string,
): Experiment | undefined {
  return listExperiments(campaign).findLast(({ branch }) => branch === only)
}

/** It has its verdict, or one that only more jobs could change: there is nothing left to do for it. */
export function isTargetSettled(campaign: Pick<Campaign, 'experiments'>, only: string): boolean {
  const found = findTargetExperiment(campaign, only)
  return found !== undefined && (found.status === 'parked' || (found.status === 'ended' && found.closed))
}
