import { describeStop } from '../model/describe-status.ts'
import type { Hands } from '../engine/apply.ts'
import { requireHome } from '../engine/home.ts'
import { record } from '../engine/record.ts'
import { run as runCampaign } from '../engine/run.ts'
import { openHands, requireCampaign } from '../engine/session.ts'
import { ConflictError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { EXIT_CODES, WAITING_EXIT_CODE } from '../model/outcome.ts'
import { shortRef } from '../model/refs.ts'
import type { Waiting } from '../plan/action.ts'
import { isSettled, meantExperiment } from '../plan/only.ts'
import type { World } from '../plan/world.ts'
import { waitingSentence } from '../report/sentence.ts'
import { answerOf, answerText, answerWithout, tryExitCode, type TryAnswer } from '../report/try-answer.ts'
import { atCampaign, type Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { defaultTip } from './default-branch.ts'
import { isCommittedIn, nothingToTry, type Standing, standingOf } from './earlier-try.ts'
import { gatherResults } from './gather-results.ts'
import { addToBacklog } from './idea.ts'
import { CATEGORY, FAMILY } from './idea-block.ts'
import { lookAround, lookingTick } from './looking.ts'
import { offer, wordsOfIdea } from './offer-diff.ts'
import { type NotTried, ownDiff, type OwnDiff } from './own-diff.ts'
import { pullNumbers } from './pull-numbers.ts'
import { start } from './run.ts'
import { baseFails } from './run-exit.ts'
import { specInForce, unlessSpecWaits } from './scope-of-try.ts'
import { takeCommand } from './take-command.ts'
import { whoIsFirst, whyHeld } from './try-held.ts'
import type { Verb } from './verb.ts'

export const tryDiff: Verb = {
  name: 'try',
  group: 'start',
  summary: 'measure what you just changed, and say whether it is kept',
  access: 'write',
  arguments: [],
  options: [
    { name: 'message', short: 'm', value: 'hypothesis', summary: 'what changes, and why it should help' },
    CATEGORY,
    { name: 'needs', value: 'package', many: true, summary: 'a package that it adds, to be approved' },
    FAMILY,
    { name: 'idea', value: 'idea', summary: 'the idea of the backlog that this carries out' },
    { name: 'only-in-scope', summary: 'leave out what is changed outside the scope, instead of refusing' },
    { name: 'json', summary: 'print the answer as JSON; progress goes to stderr' },
  ],
  examples: [
    'winnow try -m "cache the parsed header"',
    'winnow try --json',
    'winnow try -m "drop the copy" --category allocation --only-in-scope',
  ],
  exits: {
    [EXIT_CODES.kept]: 'kept: it is merged into the optimize branch',
    [EXIT_CODES['no gain']]: 'no gain: a gain worth having is ruled out',
    [EXIT_CODES['not proven']]: 'not proven yet',
    [EXIT_CODES.refused]: 'refused: nothing changed, out of scope, or in conflict',
    [EXIT_CODES.broken]: 'broken: a gate or the harness failed',
    [WAITING_EXIT_CODE]: 'waiting for a person, an approval or a machine',
    [EXIT_CODES.worse]: 'worse: harm is shown',
    130: 'interrupted; the same command goes on',
  },
  comment: {
    options: ['message', CATEGORY.name, 'needs', FAMILY.name],
    run: call => atCampaign(call, { access: 'write', startedOnly: true }, scene => addToBacklog(call, scene)),
  },
  run(call) {
    const here = { ...call, around: { ...call.around, preferMain: true } }
    const wanted = { access: 'write', startedOnly: false, announce: true } as const
    return atCampaign(here, wanted, scene => inScene(here, scene))
  },
}

async function inScene(call: Call, scene: Scene): Promise<number> {
  const answer = await tried(call, scene)
  if (answer === null) return 0
  if (call.interrupt.aborted) {
    call.terminal.err(`interrupted: type the same again, and ${answer.id ?? 'it'} goes on`)
    return 130
  }
  if (scene.rehearsal !== null) scene.rehearsal.answered = true
  if (call.given.flag('json')) call.terminal.json(answer)
  else for (const line of answerText(answer)) call.terminal.out(line)
  return tryExitCode(answer)
}

/** Null where nothing was measured because it was a rehearsal. */
async function tried(call: Call, scene: Scene): Promise<TryAnswer | null> {
  const { campaign: known, place } = scene
  if (known.started) requireHome(place, (await requireCampaign(place)).loaded.campaign)
  const diff = await ownDiff({
    workshop: scene.workshop,
    env: call.around.env,
    spec: await specInForce(scene),
    message: call.given.text('message') ?? (await wordsOfIdea(call, scene)),
    onlyInScope: call.given.flag('only-in-scope'),
  })
  if ('code' in diff) return refusal(scene, await unlessSpecWaits(call, scene, diff), [])
  sayLeftOut(call, diff)
  if (await bringsNothingYet(call, scene, diff))
    return refusal(scene, nothingToTry(scene.place.name), diff.leftOut)
  const here = await start(call, scene)
  const world = await lookAround(call, here)
  if (world === null) throw new ConflictError('the campaign is not there yet', [])
  return inWorld(call, here, { world, diff })
}

/** No campaign is begun for nothing. */
async function bringsNothingYet(
  { around }: Call,
  { campaign, workshop }: Scene,
  diff: OwnDiff,
): Promise<boolean> {
  if (campaign.started) return false
  const { commit } = await defaultTip(workshop, around)
  return isCommittedIn(workshop.repository, diff, commit)
}

function sayLeftOut({ terminal }: Call, { leftOut }: OwnDiff): void {
  for (const path of leftOut.slice(0, 5)) {
    const why = path.endsWith('/') ? 'a repository of its own' : 'outside the scope'
    terminal.err(`note: ${path} is ${why} and left out`)
  }
  if (leftOut.length > 5) terminal.err(`note: and ${leftOut.length - 5} more`)
}

interface Known {
  world: World
  diff: OwnDiff
}

async function inWorld(call: Call, scene: Scene, known: Known): Promise<TryAnswer | null> {
  const standing = await standingOf(scene.place.repository, known.world, known.diff)
  if (standing.is === 'refused') return refusal(scene, standing, known.diff.leftOut)
  if (standing.is === 'known' && standing.experiment.status === 'ended') {
    const { campaign } = known.world
    return verdictOn(call, scene, {
      campaign,
      diff: known.diff,
      experiment: standing.experiment,
      before: true,
    })
  }
  if (baseFails(known.world.campaign)) return baseBroken(scene, known.world.campaign, known.diff)
  const held = await whyHeld(scene, known.world)
  if (held !== null) return waits(scene, held, known.diff)
  return measured(call, scene, known, standing)
}

async function measured(
  call: Call,
  scene: Scene,
  known: Known,
  standing: Measurable,
): Promise<TryAnswer | null> {
  const { world, diff } = known
  await goOn(scene, world, standing)
  const branch = await branchOf(call, scene, world, standing)
  if (scene.rehearsal !== null || branch === null) {
    await lookingTick(call, scene)
    return null
  }
  const first = whoIsFirst(world.campaign, branch)
  if (first !== null) scene.place.progress.say(first)
  if (standing.is === 'new' && standing.diff !== diff) scene.place.progress.say(FOLLOWS)
  const hands = await openHands(scene.place, call.interrupt, { only: branch })
  const enough = (campaign: Campaign) => isSettled(campaign, branch)
  const waiting = await runCampaign(hands, { signal: call.interrupt, watch: false, enough })
  return afterwards(call, scene, { campaign: await campaignNow(hands), waiting, branch, diff })
}

/** Whether a line was changed again or put back, nobody can tell but who did it. */
const FOLLOWS =
  'HEAD lacks an idea of its own that was kept: your files are taken as they are, as what follows it; what you put back counts as part of this idea'

type Measurable = Exclude<Standing, { is: 'refused' }>

async function branchOf(
  call: Call,
  scene: Scene,
  { campaign }: World,
  standing: Measurable,
): Promise<string | null> {
  if (standing.is === 'known') return standing.experiment.branch
  return offer(call, scene, { campaign, diff: standing.diff })
}

/** What ended by itself goes on with a new idea; what was not proven is given more jobs. */
async function goOn({ place, rehearsal }: Scene, { campaign }: World, standing: Measurable): Promise<void> {
  if (rehearsal !== null) return
  if (campaign.status === 'stopped') {
    place.progress.say(`${describeStop(campaign)}: it goes on with this idea`)
    await record(place, [{ kind: 'campaign-resumed', reason: 'winnow try brings an idea' }])
  }
  if (standing.is !== 'known' || standing.experiment.status !== 'parked') return
  const { id } = standing.experiment
  const reason = 'winnow try asks for more jobs'
  await record(place, [{ kind: 'steered', action: 'retry', experiment: id, reason }])
}

async function campaignNow({ memory, place }: Hands): Promise<Campaign> {
  return memory.loaded?.campaign ?? (await requireCampaign(place)).loaded.campaign
}

interface Afterwards {
  campaign: Campaign
  waiting: Waiting
  branch: string
  diff: OwnDiff
}

async function afterwards(call: Call, scene: Scene, result: Afterwards): Promise<TryAnswer> {
  const { campaign, waiting, branch, diff } = result
  const experiment = meantExperiment(campaign, branch)
  if (baseFails(campaign)) return baseBroken(scene, campaign, diff)
  if (experiment === undefined) return waits(scene, waitingSentence(waiting), diff)
  // What one idea waits for, its own verdict says; all others would be named here too.
  const another = experiment.verdict === null && experiment.status !== 'deferred'
  const said = waiting.for === 'person' && another ? waiting.what : null
  return verdictOn(call, scene, { campaign, experiment, diff, before: false, waiting: said })
}

interface Verdict {
  campaign: Campaign
  experiment: Experiment
  diff: OwnDiff
  before: boolean
  waiting?: string | null
}

async function verdictOn(call: Call, scene: Scene, verdict: Verdict): Promise<TryAnswer> {
  const { campaign, experiment, diff, before, waiting = null } = verdict
  const numbers = await pullNumbers(scene.place, campaign)
  const [measured] = await gatherResults(scene, [experiment], numbers)
  if (measured === undefined) throw new Error(`${experiment.id} has no results`)
  return answerOf(campaign, experiment, {
    measured,
    optimize: shortRef(scene.place.refs.optimize),
    pr: experiment.pull ?? numbers.get(experiment.branch ?? '') ?? null,
    triedBefore: before,
    leftOut: diff.leftOut,
    take: takeCommand(call, scene, diff),
    waiting,
  })
}

function refusal({ campaign: { name } }: Scene, { message, next }: NotTried, leftOut: readonly string[]) {
  return answerWithout({ campaign: name, verdict: 'refused', message, next, leftOut })
}

function waits({ campaign: { name } }: Scene, message: string, { leftOut }: OwnDiff): TryAnswer {
  const next = 'see to that, then type the same again'
  return answerWithout({ campaign: name, verdict: 'waiting for a person', message, next, leftOut })
}

function baseBroken({ campaign: { name } }: Scene, { status_reason }: Campaign, { leftOut }: OwnDiff) {
  const message = `the base itself fails, also without your change: ${status_reason?.split('\n', 1)[0] ?? ''}`
  const next =
    'mend what is missing on this machine, or commit (and push) what is wrong in the repository; then winnow resume, and the same again'
  return answerWithout({ campaign: name, verdict: 'broken', message, next, leftOut })
}
