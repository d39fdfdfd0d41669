import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { moveDamagedAside } from '../git/damage.ts'
import type { Repository } from '../git/repository.ts'
import { listNames, readStoredJson, writeStoredJson } from '../measure/file-system.ts'
import type { Campaign, PendingProposal, ProposalResult } from '../model/campaign.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import { ideaFields } from '../model/event-schemas.ts'
import { digestSchema, type EventId, type Oid, oidSchema, pointSchema } from '../model/ids.ts'
import { type ModelCost, modelCostSchema } from '../model/report.ts'
import type { AnswerFacts, Proposal } from '../plan/world.ts'
import type { AgentResult } from './agent.ts'
import { commitPatchedTree, readRejection } from './patch.ts'

const answer = {
  key: z.string(),
  /** The start event: a later campaign of the same name must ignore this answer. */
  campaign: z.string(),
  who: z.string(),
  at: z.iso.datetime(),
  minutes: z.number().nonnegative(),
  cost: modelCostSchema.optional(),
}
const proposed = z.strictObject({
  ...answer,
  ok: z.literal(true),
  ...ideaFields,
  learnings: z.string().nullable(),
  commit: oidSchema,
  base: pointSchema,
  /** The number of the first experiment that the brief could not name. */
  first_unseen: z.number().int().positive(),
  /** The backlog idea to carry out. */
  carries: digestSchema.optional(),
})
const failed = z.strictObject({ ...answer, ok: z.literal(false), reason: z.string() })
const stored = z.discriminatedUnion('ok', [proposed, failed])
type StoredAnswer = z.output<typeof stored>
type StoredIdea = z.output<typeof proposed>

type AnswerCampaign = Pick<Campaign, 'started' | 'sources' | 'answered'>

interface AnswerCommits extends Pick<Repository, 'has'> {
  commit(oid: Oid): Promise<{ tree: Oid }>
}

export interface AnswerToStore {
  key: string
  campaign: string
  who: string
  at: string
  minutes: number
  cost?: ModelCost
  result: AgentResult
  first_unseen: number
  carries?: EventId
}

/** Saves an answer and its cost, so that both survive a crash of this process (invariant 7). */
export async function storeAnswer(storeDir: string, answerToStore: AnswerToStore): Promise<void> {
  const { result, carries, first_unseen, ...fields } = answerToStore
  const { idea, ...rest } = result.ok ? result : { ...result, idea: {} }
  const carried = result.ok ? { first_unseen, carries } : {}
  const value = stored.parse({ ...fields, ...rest, ...idea, ...carried })
  writeStoredJson(getAnswerPath(storeDir, value.key), value, true)
}

/** Stored answers that the ledger lacks, oldest first: their ideas and their costs. */
export async function readStoredAnswers(
  storeDir: string,
  campaign: AnswerCampaign,
  repo: AnswerCommits,
  say: (line: string) => void,
): Promise<{ proposals: Proposal[]; answers: AnswerFacts[] }> {
  const waiting = (await readAllAnswers(storeDir, say)).filter(value => !isSettled(value, campaign))
  waiting.sort((a, b) => (`${a.at} ${a.key}` < `${b.at} ${b.key}` ? -1 : 1))
  const ideas = waiting.filter(value => value.ok)
  const unpaid = waiting.filter(({ key }) => !Object.hasOwn(campaign.answered, key))
  return {
    proposals: await Promise.all(ideas.map(value => toStoredProposal(value, repo))),
    answers: unpaid.map(({ key, who, ok, minutes, cost }) => {
      return { key, who, ok, minutes, ...(cost === undefined ? {} : { cost }) }
    }),
  }
}

/** Deletes answers that are fully recorded, or that belong to an earlier campaign. */
export async function forgetSettled(
  storeDir: string,
  campaign: AnswerCampaign,
  say: (line: string) => void,
): Promise<void> {
  for (const value of await readAllAnswers(storeDir, say))
    if (isSettled(value, campaign)) await rm(getAnswerPath(storeDir, value.key), { force: true })
}

function isSettled(
  { key, ok, campaign: started }: StoredAnswer,
  { started: current, ...known }: AnswerCampaign,
): boolean {
  return started !== current || Object.hasOwn(ok ? known.sources : known.answered, key)
}

async function toStoredProposal(value: StoredIdea, repo: AnswerCommits): Promise<Proposal> {
  const { key, commit, base, hypothesis, category, priority, required_deps, family, learnings } = value
  const head = (await repo.has(commit))
    ? { commit, base, tree: (await repo.commit(commit)).tree }
    : { rejected: `commit ${commit} of ${key} is gone from winnow's repository` }
  const idea = { hypothesis, category, priority, required_deps, family, learnings }
  const carried = value.carries === undefined ? {} : { carries: value.carries }
  const { first_unseen } = value
  const source = { use: 'command', key }
  return { ...idea, ...carried, first_unseen, source, head, branch: null, pull: null }
}

/** A key may hold names with any characters. Its digest is a valid file name everywhere. */
function getAnswerPath(storeDir: string, key: string): string {
  return join(storeDir, `${hashSha256(key)}.json`)
}

/** The commits of all stored ideas, recorded or not. */
export async function listStoredCommits(storeDir: string): Promise<Oid[]> {
  const found: Oid[] = []
  for (const name of listAnswerFiles(storeDir)) {
    const value = readStoredAnswer(join(storeDir, name))
    if (value !== null && value !== 'damaged' && value.ok) found.push(value.commit)
  }
  return found
}

/** Moves a damaged answer aside. Its proposer is asked again. */
async function readAllAnswers(storeDir: string, say: (line: string) => void): Promise<StoredAnswer[]> {
  const found: StoredAnswer[] = []
  for (const name of listAnswerFiles(storeDir)) {
    const path = join(storeDir, name)
    const value = readStoredAnswer(path)
    if (value === 'damaged')
      say(
        `The stored answer of a proposer was damaged and is now ${moveDamagedAside(path)}: its idea and cost are lost, and winnow asks the proposer again.`,
      )
    else if (value !== null) found.push(value)
  }
  return found
}

function listAnswerFiles(dir: string): string[] {
  return listNames(dir)
    .filter(name => name.endsWith('.json'))
    .toSorted()
}

/** Null if the file was deleted after it was listed. */
function readStoredAnswer(path: string): StoredAnswer | 'damaged' | null {
  const value = readStoredJson(path)
  return value === null ? null : (stored.safeParse(value).data ?? 'damaged')
}

// Ideas recorded in the ledger

type ProposalHead = Proposal['head']
type AnswerRepository = Pick<Repository, 'applyPatch' | 'commit' | 'writeCommit' | 'has'>

/** Keyed by request, held by the caller: a change is applied once. */
export type AnswerHeads = Map<string, Promise<ProposalHead>>

interface AnsweredIdea {
  request: PendingProposal
  result: ProposalResult
}

/** Ideas in the ledger that no experiment carries out yet, each as one commit on the proposer's base. */
export async function buildAnsweredProposals(
  repo: AnswerRepository,
  { proposal_requests }: Pick<Campaign, 'proposal_requests'>,
  heads: AnswerHeads,
): Promise<Proposal[]> {
  const found = Object.values(proposal_requests).map(async (pending): Promise<Proposal[]> => {
    const { key, carries, answer: result } = pending
    if (result === null) return []
    const { patch: _patch, ...idea } = result
    const head = await getAnsweredHead(repo, { request: pending, result }, heads)
    const source = { use: 'command', key }
    const { first_unseen } = pending
    const carried = carries === null ? {} : { carries }
    return [{ ...idea, ...carried, first_unseen, source, head, branch: null, pull: null }]
  })
  return (await Promise.all(found)).flat()
}

export function getAnsweredHead(
  repo: AnswerRepository,
  idea: AnsweredIdea,
  heads: AnswerHeads,
): Promise<ProposalHead> {
  const { key } = idea.request
  const head = heads.get(key) ?? commitAnsweredIdea(repo, idea)
  heads.set(key, head)
  return head
}

/** Uses the date of its base, so that every machine makes the same commit. */
async function commitAnsweredIdea(
  repo: AnswerRepository,
  { request: { who, base }, result }: AnsweredIdea,
): Promise<ProposalHead> {
  if (!(await repo.has(base.commit)))
    return { rejected: `commit ${base.commit}, which ${who} was given, is gone` }
  const applied = await repo.applyPatch(base.tree, result.patch)
  if ('rejected' in applied) {
    return {
      rejected: `the change by ${who} does not apply: ${readRejection(applied.rejected, result.patch).why}`,
    }
  }
  const message = `${result.hypothesis}\n\nWinnow-Source: ${who}`
  return { commit: await commitPatchedTree(repo, base, applied.tree, message), base, tree: applied.tree }
}
