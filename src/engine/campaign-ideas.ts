import { join } from 'node:path'
import { UserError, withAmend } from '../errors.ts'
import { headRef } from '../forge/pull.ts'
import type { Repository } from '../git/repository.ts'
import type { Owner } from '../measure/process/reaper.ts'
import { makeEnterable } from '../measure/users/enterable.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { handedOut } from '../model/fold-asking.ts'
import { commandKey } from '../model/fold-proposer.ts'
import type { EventId } from '../model/ids.ts'
import { nextAngle } from '../plan/angles.ts'
import { nextIdea } from '../plan/backlog.ts'
import { openEngineExperiments } from '../plan/intake.ts'
import type { Proposal, RevertFacts } from '../plan/world.ts'
import { type BroughtHeads, broughtProposals } from '../propose/brought-idea.ts'
import { asWrittenDown } from '../propose/idea-block.ts'
import { externalProposals, externalTips } from '../propose/external.ts'
import { type PreparedPatches, proposePatches, untriedPatches } from '../propose/patch.ts'
import { type PatchFile, readPatches } from '../propose/patch-file.ts'
import type { CommandProposer } from '../propose/presets.ts'
import { isBenched, proposerName } from '../propose/proposer-name.ts'
import { forgetSettled, readAnswers, storeAnswer } from '../propose/stored-answer.ts'
import type { Spec } from '../spec/schema.ts'
import { askProgram } from './ask-program.ts'
import type { IdeaScene, Ideas } from './ideas.ts'
import { ANSWERS } from './damaged-cache.ts'
import type { Place } from './place.ts'
import { freeWorkDir, reapAll } from './work-dirs.ts'

const ASKED_IN = 'propose'

/** The proposers of one campaign on this machine, guests of this run included, with what they remember to be quick. */
export function campaignIdeas(place: Place, guests: readonly CommandProposer[] = []): Ideas {
  const prepared: PreparedPatches = new Map()
  const patchFiles = new Map<string, PatchFile[]>()
  const storeDir = join(place.dataDir, ANSWERS)
  const say = (line: string) => place.progress.say(line)
  let leftovers: Promise<void> | null = null
  /** Ideas that a program has, each with the key of its answer once it has answered. */
  const handed = new Map<EventId, string | null>()
  const angles = new Set<string>()
  const brought: BroughtHeads = new Map()

  return {
    async find(scene) {
      const { campaign, spec } = scene
      if (scene.only !== null)
        return { proposals: await external(place, scene), unopened: 0, answers: [], unanswered: [] }
      const found = reverts(scene)
      let unopened = 0
      if (spec.propose.some(({ use }) => use === 'external')) found.push(...(await external(place, scene)))
      const { proposals, answers } = await readAnswers(storeDir, campaign, place.repository, say)
      found.push(...proposals, ...(await broughtProposals(place.repository, campaign, brought)))
      for (const proposer of spec.propose)
        if (proposer.use === 'patch') {
          const { proposals: patches, unopened: more } = await patchIdeas(place, scene, proposer.dir, {
            prepared,
            patchFiles,
          })
          found.push(...patches)
          unopened += more
        }
      return { proposals: found, unopened, answers, unanswered: [] }
    },
    askable: (campaign, spec) =>
      commands(spec, guests)
        .map(proposerName)
        .filter(name => !isBenched(campaign, name)),
    async ask(who, scene) {
      const { campaign } = scene
      leftovers ??= reapAll(askingRoom(place).dir)
      await leftovers
      await forgetSettled(storeDir, campaign, say)
      const began = place.clock.monotonic()
      // Before the program answers: the campaign goes on meanwhile, and its brief does not.
      const first_unseen = campaign.next_number
      const proposer = commands(scene.spec, guests).find(each => proposerName(each) === who)
      for (const [id, key] of handed)
        if (key !== null && Object.hasOwn(campaign.sources, key)) handed.delete(id)
      const taken = new Set([...handed.keys(), ...handedOut(campaign)])
      const idea = nextIdea(campaign, { who, handed: taken })
      if (idea !== null) handed.set(idea.id, null)
      const room = askingRoom(place)
      const workDir = await freeWorkDir(room.dir, scene.lane)
      const angle = idea === null ? nextAngle(campaign, scene.spec, angles) : null
      if (angle !== null) angles.add(angle)
      const answer = await askProgram(place, { who, proposer, idea, angle, workDir, ...room.runs }, scene)
        .catch(release(handed, idea))
        .finally(() => angle !== null && angles.delete(angle))
      const asked = answer.ok ? { ...answer, idea: asWrittenDown(idea, answer.idea) } : answer
      if (!asked.ok && idea !== null) handed.delete(idea.id)
      const minutes = (place.clock.monotonic() - began) / 60_000
      const at = new Date(place.clock.now()).toISOString()
      const key = commandKey(who, place.random.hex(8))
      if (asked.ok && idea !== null) handed.set(idea.id, key)
      place.faults.reach('ask:answered')
      const carries = idea === null ? {} : { carries: idea.id }
      const about = { key, campaign: campaign.started, who, at, minutes, first_unseen }
      await storeAnswer(storeDir, { ...about, asked, ...carries })
      place.faults.reach('ask:stored')
      return asked.ok ? { ok: true, reason: '' } : asked
    },
  }
}

/** Where programs are asked, and as whom: root starts none of them as itself. */
function askingRoom({ isolation, dataDir }: Place): { dir: string; runs: { owner?: Owner } } {
  if (isolation === undefined || !isolation.asRoot) return { dir: join(dataDir, ASKED_IN), runs: {} }
  const { users } = isolation
  const owner = 'owners' in users ? users.owners.at(-1) : undefined
  if (!('owners' in users) || owner === undefined) throw new Error('root has no user to run a program as')
  const dir = join(users.dir, ASKED_IN)
  makeEnterable(dir)
  return { dir, runs: { owner } }
}

/** Caches ideas that were read and prepared before. */
interface PatchMemory {
  prepared: PreparedPatches
  patchFiles: Map<string, PatchFile[]>
}

async function patchIdeas(
  place: Place,
  scene: IdeaScene,
  dir: string,
  { prepared, patchFiles }: PatchMemory,
): Promise<{ proposals: Proposal[]; unopened: number }> {
  const { campaign, spec, defaultTip } = scene
  const key = `${defaultTip.tree} ${dir}`
  const files = patchFiles.get(key) ?? (await patchesOf(place, scene, dir))
  patchFiles.clear()
  patchFiles.set(key, files)
  const { incumbent } = campaign
  const limit = roomFor(campaign, spec)
  const untried = untriedPatches({ campaign, files }).length
  if (limit <= 0) return { proposals: [], unopened: untried }
  const asked = { repo: place.repository, files, incumbent, fallbackBase: defaultTip, campaign }
  const proposals = await proposePatches({ ...asked, limit, prepared })
  return { proposals, unopened: untried - proposals.length }
}

/** A running campaign keeps the spec that it was started with: editing the file alone changes nothing. */
async function patchesOf({ repository }: Place, { campaign, defaultTip }: IdeaScene, dir: string) {
  try {
    return await readPatches(repository, defaultTip.tree, dir)
  } catch (error) {
    throw error instanceof UserError ? withAmend(error, campaign.spec_path) : error
  }
}

/** Only what could be opened now is prepared: the incumbent may be another one when the rest is due. */
function roomFor(campaign: Campaign, spec: Spec): number {
  return spec.merge.max_open_experiments - openEngineExperiments({ campaign })
}

/** What was handed out and came to nothing, not even to words, may be handed out again. */
function release(handed: Map<EventId, string | null>, idea: BacklogIdea | null) {
  return (error: unknown): never => {
    if (idea !== null) handed.delete(idea.id)
    throw error
  }
}

/** A guest that the spec names as well is asked as the spec says. */
function commands(spec: Spec, guests: readonly CommandProposer[]): CommandProposer[] {
  const own = spec.propose.filter(proposer => proposer.use === 'command')
  const known = new Set(own.map(proposerName))
  return [...own, ...guests.filter(guest => !known.has(proposerName(guest)))]
}

async function external(place: Place, scene: IdeaScene): Promise<Proposal[]> {
  const { campaign, branches, pulls, spec } = scene
  const facts = { campaign, prefix: spec.branches.prefix, pulls, branches }
  const tips = externalTips(facts)
  await place.repository.fetch(
    tips.map(({ branch, head, pull }) => ({
      ref: headRef({ branch, number: pull?.number ?? 0 }),
      oid: head,
    })),
  )
  return externalProposals(facts, await subjectsOf(place.repository, tips))
}

async function subjectsOf(
  repository: Repository,
  tips: readonly { head: string }[],
): Promise<Map<string, string>> {
  const subjects = new Map<string, string>()
  for (const { head } of tips)
    subjects.set(head, (await repository.commit(head)).message.split('\n', 1)[0] ?? '')
  return subjects
}

/** A landing that cannot be taken back directly is an experiment of its own, or refused with its conflict. */
function reverts({ campaign, reverts }: IdeaScene): Proposal[] {
  return [...reverts].flatMap(([wish, facts]) => revertProposal(campaign, wish, facts))
}

function revertProposal(campaign: Campaign, wish: string, { landing, result }: RevertFacts): Proposal[] {
  if (!('conflict' in result) && result.measuredIn !== null) return []
  const undone = campaign.experiments[landing]
  const head =
    'conflict' in result
      ? { rejected: `${landing} cannot be taken back: conflict in ${result.conflict.slice(0, 5).join(', ')}` }
      : { commit: result.head, base: campaign.incumbent }
  return [
    {
      hypothesis: `revert ${landing}: ${undone?.hypothesis ?? ''}`,
      category: 'revert',
      priority: 'high',
      required_deps: [],
      family: null,
      source: { use: 'revert', key: `revert:${wish}` },
      learnings: null,
      head,
      branch: null,
      pull: null,
      reverts: landing,
    },
  ]
}
