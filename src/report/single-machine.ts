import type { Campaign } from '../model/campaign.ts'
import { listKeptExperiments } from './taken-back.ts'

/** What the campaign has to admit of its keeps: no other machine has confirmed them (decision.md 3.3). */
export function describeSingleMachine(campaign: Pick<Campaign, 'experiments' | 'landings'>): string | null {
  const kept = listKeptExperiments(campaign)
  const single = kept.filter(({ single_machine }) => single_machine).length
  if (single === 0) return null
  const which =
    single === kept.length
      ? `${single === 1 ? 'The one' : `All ${single}`} kept`
      : `${single} of ${kept.length} kept`
  const verb = single === 1 ? 'rests' : 'rest'
  return `${which} ${verb} on a single machine: new builds stood for fresh runners, so what is special to this machine is not averaged out.`
}
