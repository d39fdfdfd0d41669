import type { Hands } from '../engine/apply.ts'
import { isAway, requireHome } from '../engine/home.ts'
import { record } from '../engine/record.ts'
import { run as runCampaign } from '../engine/run.ts'
import { whereaboutsOf } from '../engine/place.ts'
import { openHands, requireCampaign } from '../engine/session.ts'
import { committedSpec, requireStartable, requireSupported, startCampaign } from '../engine/start.ts'
import { UserError, withAmend } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { finalSummary } from '../report/final-summary.ts'
import { deferredOf } from '../report/approval-text.ts'
import { runSummary } from '../report/run-summary.ts'
import { statusView } from '../report/status-view.ts'
import { READ_AS_CE, standingNotes } from '../spec/notes.ts'
import { specOf } from '../spec/recorded-spec.ts'
import { atCampaign, type Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { heedComments } from './comments/heed.ts'
import { notedForecast } from './forecast-file.ts'
import { goesOn } from './go-on.ts'
import { stakeOf } from './stake-of.ts'
import type { KnownCampaign } from './known-campaigns.ts'
import { showingLive } from './live.ts'
import { lookingTick } from './looking.ts'
import { pullNumbers } from './pull-numbers.ts'
import { AGENT, guestsFor } from './run-agent.ts'
import { RUN_EXITS, runExitCode, type RunResult } from './run-exit.ts'
import { runLive } from './run-live.ts'
import { unusedWork } from './unused-work.ts'
import type { Verb } from './verb.ts'

export const run: Verb = {
  name: 'run',
  group: 'start',
  summary: 'start or continue a campaign on this machine, until it stops or waits',
  access: 'write',
  arguments: [{ name: 'spec', summary: 'a spec file, where there are several', required: false }],
  options: [
    { name: 'fresh', summary: 'close what is open, put the campaign aside, start from the default branch' },
    AGENT,
    { name: 'watch', summary: 'keep looking while ideas or a person are waited for' },
    { name: 'yes', short: 'y', summary: 'do not ask before what costs money, or more than an hour' },
    { name: 'json', summary: 'print the status and what is waited for as JSON; progress goes to stderr' },
  ],
  examples: [
    'winnow run',
    'winnow run .winnow/parser.yaml --watch',
    'winnow run --agent claude',
    'winnow run --fresh --dry-run',
  ],
  exits: { ...RUN_EXITS, 130: 'interrupted; run again to go on' },
  run(call) {
    return runTelling(call, tellRunResult)
  },
}

/** What a run came to, told in the way that suits who started it. */
export type Telling = (call: Call, scene: Scene, result: RunResult) => Promise<void>

export function runTelling(call: Call, tell: Telling): Promise<number> {
  const [spec] = call.given.positionals
  const repeatable = !call.given.flag('fresh')
  const wanted = { access: 'write', startedOnly: false, spec, announce: true, repeatable } as const
  return atCampaign(call, wanted, scene => inScene(call, scene, tell))
}

async function inScene(call: Call, scene: Scene, tell: Telling): Promise<number> {
  const { campaign, workshop, place } = scene
  if (campaign.started) requireHome(place, (await requireCampaign(place)).loaded.campaign)
  const guests = await guestsFor(call, scene)
  const specPath = campaign.ledgerPath ?? campaign.specPath
  for (const sentence of await unusedWork(workshop, specPath, call.around.env)) {
    call.terminal.err(`note: ${sentence}`)
  }
  if (!(await agreed(call, scene))) {
    call.terminal.err('Nothing was started.')
    return 130
  }
  const here = call.given.flag('fresh') ? await startAfresh(call, scene) : await start(call, scene)
  if (here.rehearsal) {
    await lookingTick(call, here)
    return 0
  }
  await requireMeasurableHere(here)
  const hands = await openHands(here.place, call.interrupt, { guests, heed: heedComments(call, here) })
  const watch = call.given.flag('watch')
  const running = () => runCampaign(hands, { signal: call.interrupt, watch })
  const waiting = await showingLive(call, runLive(hands), running)
  const result = { campaign: await campaignNow(hands), waiting }
  await tell(call, here, result)
  return call.interrupt.aborted ? 130 : runExitCode(result)
}

/** Before a campaign begins a person is told what it may take; nothing is recorded yet. */
async function agreed(call: Call, scene: Scene): Promise<boolean> {
  const { campaign, workshop, rehearsal } = scene
  if (rehearsal !== null || (campaign.started && !call.given.flag('fresh'))) return true
  const place = { ...scene.place, defaultBranch: scene.currentDefault }
  const { spec, yaml, tip } = await committedSpec(place, specPathOf(scene))
  return goesOn(call, stakeOf(spec, await notedForecast(workshop, { yaml, tree: tip.tree })))
}

/** The campaign may have been started where measuring jobs give what this machine does not. */
async function requireMeasurableHere({ place }: Scene): Promise<void> {
  const { loaded, spec } = await requireCampaign(place)
  const path = loaded.campaign.spec_path
  try {
    requireSupported({ spec, path }, whereaboutsOf(place.forge))
  } catch (error) {
    throw error instanceof UserError ? withAmend(error, path) : error
  }
}

/** The campaign as it is, or begun from its committed spec. */
export async function start(call: Call, scene: Scene): Promise<Scene> {
  const { campaign, place } = scene
  if (campaign.started) {
    requireSamePath(call, campaign)
    return scene
  }
  const committed = await committedSpec(place, specPathOf(scene))
  if (committed.spec.rules === 'ce') call.terminal.err(`note: ${READ_AS_CE}`)
  await startCampaign(place, committed, { fresh: false })
  return scene
}

/** A spec that was named and is not the one the campaign runs by would be passed over in silence. */
function requireSamePath({ given }: Call, { name, ledgerPath, specPath }: KnownCampaign): void {
  const named = given.positionals[0] !== undefined && given.positionals[0] !== name
  if (!named || ledgerPath === null || specPath === null || specPath === ledgerPath) return
  throw new UserError(`campaign ${name} was started from ${ledgerPath}, not from ${specPath}`, {
    place: { file: specPath },
    fix: `move the spec back, or winnow run --fresh ${specPath}`,
  })
}

/** The new spec is read before the old campaign is closed: a mistake in it costs nothing. */
async function startAfresh(call: Call, scene: Scene): Promise<Scene> {
  const fresh = { ...scene, place: { ...scene.place, defaultBranch: scene.currentDefault } }
  const committed = await committedSpec(fresh.place, specPathOf(scene))
  requireStartable(committed, fresh.place)
  if (scene.campaign.started) await closeDown(call, scene, 'fresh', 'a fresh start was asked for')
  await startCampaign(fresh.place, committed, { fresh: true })
  return fresh
}

/** Stops the campaign and gives everything that is open its end. */
export async function closeDown(call: Call, scene: Scene, code: string, reason: string): Promise<void> {
  const { place } = scene
  const { campaign } = (await requireCampaign(place)).loaded
  const isOpen = Object.values(campaign.experiments).some(({ status }) => status !== 'ended')
  const waits = code === 'person' ? deferredOf(campaign).length + campaign.late.length > 0 : isOpen
  if (campaign.status !== 'stopped' || waits)
    await record(place, [{ kind: 'campaign-stopped', code, reason }])
  // What heeds comments is a tick itself, and goes on; elsewhere the next wake-up does the rest.
  if (!call.comment && !isAway(place, campaign)) await lookingTick(call, scene)
}

export function specPathOf({ campaign }: Scene): string {
  if (campaign.problem !== null) throw campaign.problem
  if (campaign.specPath !== null) return campaign.specPath
  throw new UserError(`the spec of ${campaign.name} is not on the default branch any more`, {
    fix: 'commit .winnow/<name>.yaml (and push it)',
  })
}

async function campaignNow({ memory, place }: Hands): Promise<Campaign> {
  return memory.loaded?.campaign ?? (await requireCampaign(place)).loaded.campaign
}

export async function tellRunResult(
  { given, terminal }: Call,
  { place, workshop, campaign: known }: Scene,
  { campaign, waiting }: RunResult,
) {
  if (given.flag('json')) {
    const notes = standingNotes(specOf(campaign))
    const view = statusView(campaign, await pullNumbers(place, campaign), notes)
    terminal.json({ waiting, ...view })
    return
  }
  const astray = waiting.for === 'person' && waiting.astray === true
  const where = { prefix: known.prefix, remote: workshop.remote, astray }
  for (const line of [...runSummary(campaign, waiting), ...finalSummary(campaign, where)]) terminal.out(line)
}
