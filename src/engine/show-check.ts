import type { Check } from '../forge/port.ts'
import { isRefusal } from '../forge/refused.ts'
import type { Campaign } from '../model/campaign.ts'
import { checkMark } from '../model/check-mark.ts'
import type { ExperimentId } from '../model/ids.ts'
import { subjectOf } from '../model/picked.ts'
import { checkOf } from '../report/check-run.ts'
import { specOf } from '../spec/recorded-spec.ts'
import type { Memory } from './memory.ts'
import type { Place } from './place.ts'

/** How the head of an experiment stands by now. */
export async function showCheck(
  { place, memory }: { place: Place; memory: Memory },
  campaign: Campaign,
  id: ExperimentId,
): Promise<void> {
  const experiment = subjectOf(campaign, id)
  const check = experiment === undefined ? null : checkOf(campaign, experiment, place.forge.page ?? null)
  if (experiment === undefined || check === null) return
  memory.checks.set(id, checkMark(campaign, experiment))
  const comments = specOf(campaign).report.comment !== 'never'
  await tryCheck(place, comments ? check : { ...check, again: true })
}

/** A token that may not show checks costs nobody the campaign: verdicts stand in the pull requests as well. */
export async function tryCheck({ forge, progress }: Place, check: Check): Promise<void> {
  for (let asked = 1; ; asked++) {
    try {
      return await forge.check?.(check)
    } catch (error) {
      if (!isRefusal(error)) throw error
      // What no permission is missing for is believed the second time.
      if (asked === 1 && error.detail.rule === undefined) continue
      return progress.say(`${check.id} has no check: ${error.message} (the token needs checks: write)`)
    }
  }
}
