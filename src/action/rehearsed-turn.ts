import { type ActionsRun, tickOnActions } from '../engine/actions/session.ts'
import { rehearsedForge, WouldChange } from '../forge/rehearsed.ts'
import { waitingSentence } from '../report/sentence.ts'
import { atCampaign, type Scene } from '../verbs/at-campaign.ts'
import type { Call } from '../verbs/call.ts'
import { start } from '../verbs/run.ts'
import { callOf } from './verb-call.ts'

/** What one campaign would come to: the pushes, and what would be done on GitHub, in words. */
export interface Rehearsed {
  campaign: string
  would: string[]
}

/** The real turn on a repository and a forge that take nothing; comments are not heeded, for nobody is answered. */
export async function rehearsedTurn(
  around: Call['around'],
  campaign: string,
  run: ActionsRun,
): Promise<Rehearsed> {
  const would: string[] = []
  const call = callOf(around, { campaign, 'dry-run': true })
  const out = (text: string): void => {
    would.push(text)
    call.terminal.out(text)
  }
  const rehearsal = { ...call, terminal: { ...call.terminal, out } }
  await atCampaign(rehearsal, { access: 'write', startedOnly: false }, async scene => {
    await oneTurn(rehearsal, await start(rehearsal, scene), run)
    return 0
  })
  return { campaign, would }
}

async function oneTurn({ terminal }: Call, { place }: Scene, run: ActionsRun): Promise<void> {
  const forge = rehearsedForge(place.forge, line => terminal.out(line))
  if (forge.workflows === undefined) throw new Error('this forge runs no workflows')
  try {
    const { waiting } = await tickOnActions({ ...place, forge }, forge.workflows, run)
    terminal.out(waitingSentence(waiting))
  } catch (error) {
    if (!(error instanceof WouldChange)) throw error
  }
}
