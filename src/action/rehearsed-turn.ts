import { type ActionsRun, runActionsTick } from '../engine/actions/session.ts'
import { createDryRunForge, WouldChange } from '../forge/rehearsed.ts'
import { describeWaiting } from '../report/sentence.ts'
import { withCampaign, type CommandContext } from '../verbs/at-campaign.ts'
import type { Call } from '../verbs/call.ts'
import { openOrStartCampaign } from '../verbs/run.ts'
import { createCall } from './verb-call.ts'

/** What one campaign would come to: the pushes, and what would be done on GitHub, in words. */
export interface DryRunTurn {
  campaign: string
  would: string[]
}

/** The real turn on a repository and a forge that take nothing; comments are not heeded, for nobody is answered. */
export async function runDryTurn(
  around: Call['around'],
  campaign: string,
  run: ActionsRun,
): Promise<DryRunTurn> {
  const would: string[] = []
  const call = createCall(around, { campaign, 'dry-run': true })
  const out = (text: string): void => {
    would.push(text)
    call.terminal.out(text)
  }
  const rehearsal = { ...call, terminal: { ...call.terminal, out } }
  await withCampaign(rehearsal, { access: 'write', startedOnly: false }, async scene => {
    await tickDryRun(rehearsal, await openOrStartCampaign(rehearsal, scene), run)
    return 0
  })
  return { campaign, would }
}

async function tickDryRun({ terminal }: Call, { place }: CommandContext, run: ActionsRun): Promise<void> {
  const forge = createDryRunForge(place.forge, line => terminal.out(line))
  if (forge.workflows === undefined) throw new Error('this forge runs no workflows')
  try {
    const { waiting } = await runActionsTick({ ...place, forge }, forge.workflows, run)
    terminal.out(describeWaiting(waiting))
  } catch (error) {
    if (!(error instanceof WouldChange)) throw error
  }
}
