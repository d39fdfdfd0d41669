import { describeAwaitedPackages } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { isAwaitingPermission, formatPermissionCommand } from '../model/permission.ts'
import { listSubjects } from '../model/picked.ts'
import { isStillAwaitingApproval } from '../plan/encore.ts'
import type { CampaignSpecText } from '../spec/recorded-spec.ts'
import { findSyncWords } from './sync-text.ts'
import { describeNextRun } from './who-goes-on.ts'

/** One experiment that goes on only after a person has done something. */
export interface PersonalTask {
  experiment: Experiment
  is: 'approval' | 'permission' | 'sync'
  /** What it waits for: "approval of left-pad 1.3.0". */
  awaits: string
  /** What a person types or does. */
  help: string
}

type TaskCampaign = Pick<
  Campaign,
  'experiments' | 'picks' | 'name' | 'default_branch' | 'status' | 'stop_code' | 'host'
> &
  CampaignSpecText

/** What waits for a person, oldest first: the same list for the pull request, the digest, `status` and `run`. */
export function findPersonalTasks(campaign: TaskCampaign): PersonalTask[] {
  return listSubjects(campaign).flatMap((experiment): PersonalTask[] => {
    const { id, status } = experiment
    if (status === 'deferred') {
      const awaits = `approval of ${describeAwaitedPackages(experiment)}`
      return [
        {
          experiment,
          is: 'approval',
          awaits,
          help: `winnow approve ${id}${describeAfterStop(campaign, experiment)}`,
        },
      ]
    }
    if (isAwaitingPermission(experiment)) {
      const awaits = 'permission to be measured: its author may not write to this repository'
      return [{ experiment, is: 'permission', awaits, help: formatPermissionCommand(experiment) }]
    }
    const words = findSyncWords(campaign, experiment)
    if (words === null) return []
    return [{ experiment, is: 'sync', awaits: `a person: ${words.because}`, help: words.next }]
  })
}

export function renderPersonalTasks(campaign: TaskCampaign): string[] {
  return findPersonalTasks(campaign).map(
    ({ experiment: { id }, awaits, help }) => `${id} is waiting for ${awaits}: ${help}`,
  )
}

/** Approved after the campaign stopped: that alone goes on. */
function describeAfterStop(campaign: TaskCampaign, experiment: Experiment): string {
  const late = campaign.status === 'stopped' && isStillAwaitingApproval(campaign, experiment)
  return late ? ` gives it one more round at ${describeNextRun(campaign)}` : ''
}
