import { awaitedText } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { awaitsPermission, permissionText } from '../model/permission.ts'
import { subjectsOf } from '../model/picked.ts'
import { waitsOn } from '../plan/encore.ts'
import type { Ruled } from '../spec/recorded-spec.ts'
import { syncWordsOf } from './sync-text.ts'
import { nextTurn } from './who-goes-on.ts'

/** One experiment that goes on only after a person has done something. */
export interface PersonalTask {
  experiment: Experiment
  is: 'approval' | 'permission' | 'sync'
  /** What it waits for: "approval of left-pad 1.3.0". */
  awaits: string
  /** What a person types or does. */
  help: string
}

type Known = Pick<
  Campaign,
  'experiments' | 'picks' | 'name' | 'default_branch' | 'status' | 'stop_code' | 'host'
> &
  Ruled

/** What waits for a person, oldest first: the same list for the pull request, the digest, `status` and `run`. */
export function findPersonalTasks(campaign: Known): PersonalTask[] {
  return subjectsOf(campaign).flatMap((experiment): PersonalTask[] => {
    const { id, status } = experiment
    if (status === 'deferred') {
      const awaits = `approval of ${awaitedText(experiment)}`
      return [
        {
          experiment,
          is: 'approval',
          awaits,
          help: `winnow approve ${id}${afterStop(campaign, experiment)}`,
        },
      ]
    }
    if (awaitsPermission(experiment)) {
      const awaits = 'permission to be measured: its author may not write to this repository'
      return [{ experiment, is: 'permission', awaits, help: permissionText(experiment) }]
    }
    const words = syncWordsOf(campaign, experiment)
    if (words === null) return []
    return [{ experiment, is: 'sync', awaits: `a person: ${words.because}`, help: words.next }]
  })
}

export function personalTaskLines(campaign: Known): string[] {
  return findPersonalTasks(campaign).map(
    ({ experiment: { id }, awaits, help }) => `${id} is waiting for ${awaits}: ${help}`,
  )
}

/** Approved after the campaign stopped: that alone goes on. */
function afterStop(campaign: Known, experiment: Experiment): string {
  const late = campaign.status === 'stopped' && waitsOn(campaign, experiment)
  return late ? ` gives it one more round at ${nextTurn(campaign)}` : ''
}
