import type { Hands } from '../engine/apply.ts'
import { record } from '../engine/record.ts'
import { run as runCampaign } from '../engine/run.ts'
import { openHands, requireCampaign } from '../engine/session.ts'
import { committedSpec, requireSupported, startCampaign } from '../engine/start.ts'
import { UserError } from '../errors.ts'
import { WAITING_EXIT_CODE } from '../model/outcome.ts'
import type { Waiting } from '../plan/action.ts'
import { runSummary } from '../report/run-summary.ts'
import { statusView } from '../report/status-view.ts'
import { atCampaign, type Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { lookingTick } from './looking.ts'
import { pullNumbers } from './pull-numbers.ts'
import { unusedWork } from './unused-work.ts'
import type { Verb } from './verb.ts'

export const run: Verb = {
  name: 'run',
  summary: 'start a campaign or continue it, measuring on this machine, until it stops or waits',
  access: 'write',
  arguments: [{ name: 'spec', summary: 'a spec file, where there are several', required: false }],
  options: [
    { name: 'fresh', summary: 'close what is open, put the campaign aside, start from the default branch' },
    { name: 'watch', summary: 'keep looking while ideas or a person are waited for' },
    { name: 'json', summary: 'print the status and what is waited for as JSON; progress goes to stderr' },
  ],
  examples: ['winnow run', 'winnow run .winnow/parser.yaml --watch', 'winnow run --fresh --dry-run'],
  exits: {
    0: 'the campaign stopped by its own rules',
    13: 'the harness failed',
    14: 'waiting for ideas, a measurement elsewhere, or a person',
    130: 'interrupted; run again to go on',
  },
  run(call) {
    const [spec] = call.given.positionals
    const wanted = { access: 'write', startedOnly: false, spec, announce: true } as const
    return atCampaign(call, wanted, scene => inScene(call, scene))
  },
}

async function inScene(call: Call, scene: Scene): Promise<number> {
  const { campaign, workshop } = scene
  for (const sentence of await unusedWork(workshop, campaign.specPath, call.around.env)) {
    call.terminal.err(`note: ${sentence}`)
  }
  const here = call.given.flag('fresh') ? await startAfresh(call, scene) : await start(scene)
  if (here.rehearsal) return exitCodeFor(await lookingTick(call, here))
  const hands = await openHands(here.place, call.interrupt)
  const watch = call.given.flag('watch')
  const waiting = await runCampaign(hands, { signal: call.interrupt, watch })
  await summarise(call, hands, waiting)
  return call.interrupt.aborted ? 130 : exitCodeFor(waiting)
}

async function start(scene: Scene): Promise<Scene> {
  const { campaign, place } = scene
  if (campaign.started) return scene
  await startCampaign(place, await committedSpec(place, specPathOf(scene)), { fresh: false })
  return scene
}

/** The new spec is read before the old campaign is closed: a mistake in it costs nothing. */
async function startAfresh(call: Call, scene: Scene): Promise<Scene> {
  const fresh = { ...scene, place: { ...scene.place, defaultBranch: scene.currentDefault } }
  const committed = await committedSpec(fresh.place, specPathOf(scene))
  requireSupported(committed)
  if (scene.campaign.started) await closeDown(call, scene, 'fresh', 'a fresh start was asked for')
  await startCampaign(fresh.place, committed, { fresh: true })
  return fresh
}

/** Stops the campaign and gives everything that is open its end. */
export async function closeDown(call: Call, scene: Scene, code: string, reason: string): Promise<void> {
  const { place } = scene
  const { loaded } = await requireCampaign(place)
  if (loaded.campaign.status !== 'stopped') await record(place, [{ kind: 'campaign-stopped', code, reason }])
  await lookingTick(call, scene)
}

function specPathOf({ campaign }: Scene): string {
  if (campaign.problem !== null) throw campaign.problem
  if (campaign.specPath !== null) return campaign.specPath
  throw new UserError(`the spec of ${campaign.name} is not on the default branch any more`, {
    fix: 'commit .winnow/<name>.yaml (and push it)',
  })
}

async function summarise({ given, terminal }: Call, hands: Hands, waiting: Waiting): Promise<void> {
  const campaign = hands.memory.loaded?.campaign
  if (campaign === undefined) return
  if (given.flag('json')) {
    const view = statusView(campaign, await pullNumbers(hands.place, campaign))
    terminal.json({ waiting, ...view })
    return
  }
  for (const line of runSummary(campaign, waiting)) terminal.out(line)
}

function exitCodeFor(waiting: Waiting): number {
  return waiting.for === 'nothing' ? 0 : WAITING_EXIT_CODE
}
