import type { Check } from '../forge/port.ts'
import { isRefusal } from '../forge/refused.ts'
import type { Campaign } from '../model/campaign.ts'
import { buildCheckMark } from '../model/check-mark.ts'
import type { ExperimentId } from '../model/ids.ts'
import { findSubject } from '../model/picked.ts'
import { buildCheckRun } from '../report/check-run.ts'
import { getCampaignSpec } from '../spec/recorded-spec.ts'
import type { Memory } from './memory.ts'
import type { CampaignContext } from './place.ts'

/** How the head of an experiment stands by now. */
export async function updateCheck(
  { place, memory }: { place: CampaignContext; memory: Memory },
  campaign: Campaign,
  id: ExperimentId,
): Promise<void> {
  const experiment = findSubject(campaign, id)
  const check =
    experiment === undefined ? null : buildCheckRun(campaign, experiment, place.forge.page ?? null)
  if (experiment === undefined || check === null) return
  memory.checks.set(id, buildCheckMark(campaign, experiment))
  const comments = getCampaignSpec(campaign).report.comment !== 'never'
  await tryUpdateCheck(place, comments ? check : { ...check, again: true })
}

/** A token that may not show checks costs nobody the campaign: verdicts stand in the pull requests as well. */
export async function tryUpdateCheck({ forge, progress }: CampaignContext, check: Check): Promise<void> {
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
