import { isRefusal } from '../errors.ts'
import type { Pacing } from '../ledger/retry.ts'
import { WORKFLOW_FILE } from '../model/github.ts'
import { createCheckWriter } from './checks.ts'
import { createGithubClient, type GithubAccess, type GithubClient } from './client.ts'
import { addEarlierComments, MOST_PAGES } from './comments.ts'
import { editPull, mergePull, openPull, type PullEditing, toRefusedAnswer } from './edit-pulls.ts'
import { createPermissionReader, readHeadAuthors } from './people.ts'
import type { Forge, ForgeAnswer, ForgeChange, NewPull, Reaction } from './port.ts'
import { type KnownPull, REVIEWERS } from './pull-node.ts'
import { PullCache, readNumbers, readOpen } from './read-pulls.ts'
import { createRateBudget, requestUnlessMissing, withRetries } from './requests.ts'
import { createGithubWorkflows } from './workflows.ts'

export interface GithubForgeOptions extends Pacing, GithubAccess {
  /** Short name of the branch that the pull requests target. */
  base: string
  /** Token for team lookups, which a job token cannot make. Default: `token`. */
  appToken?: string | null
  /** `GITHUB_SERVER_URL`. Without it, texts contain no links. */
  serverUrl?: string
  /** File name in .github/workflows. Default: the file that init writes. */
  workflowFile?: string
}

/** Reads pull requests from GitHub with as few requests as possible. Uses git for all that git knows. */
export function createGithubForge(options: GithubForgeOptions): Forge {
  const client = createGithubClient(options)
  const { appToken = null } = options
  const members = appToken === null ? client : createGithubClient({ ...options, token: appToken })
  const check = createCheckWriter(client)
  const pages = createRateBudget(MOST_PAGES, options.monotonic)
  const before = new PullCache()
  return {
    async list(wanted = {}, moment) {
      const same = before.find(moment, wanted)
      if (same !== null) return same.map(({ pull }) => pull)
      const { known, named } = await withRetries(options, () => readOpen(client, options.base, wanted))
      const request = { read: wanted.read, named, pages, say: options.say }
      const whole = await withRetries(options, () => addEarlierComments(client, known, request))
      before.keep({ moment, wanted, whole }, known)
      for (const { pull } of known.filter(({ moreReviewers }) => moreReviewers))
        options.say(
          `#${pull.number}: too many reviewers; winnow reads the last ${REVIEWERS} of those without write access`,
        )
      return whole.map(({ pull }) => pull)
    },
    batch: changes => withRetries(options, () => applyChanges(client, changes, before)),
    ...(options.serverUrl === undefined ? {} : { page: `${options.serverUrl}/${options.repository}` }),
    readHeadAuthors: number => withRetries(options, () => readHeadAuthors(client, number)),
    merge(number, wanted) {
      before.forget()
      return withRetries(options, () => mergePull(client, number, wanted))
    },
    check: wanted => withRetries(options, attempt => check(wanted, attempt)),
    react(comment, how) {
      before.forget()
      return withRetries(options, () => addReaction(client, comment, how))
    },
    ...createPermissionReader({ client, members }, options),
    isPrivate: () => withRetries(options, () => isPrivate(client)),
    workflows: createGithubWorkflows(client, options.workflowFile ?? WORKFLOW_FILE, options),
  }
}

/** Applies the changes. A retry after a broken connection finds the changes that were already made. */
async function applyChanges(
  client: GithubClient,
  changes: readonly ForgeChange[],
  before: PullCache,
): Promise<ForgeAnswer[]> {
  const edits = groupEdits(changes)
  // A retry reads all pull requests again: the first attempt took them from the cache.
  const remembered = before.take(edits.keys())
  const answers = new Map<ForgeChange, ForgeAnswer>()
  for (const change of changes) {
    if (change.kind === 'open') answers.set(change, await openOrRefuse(client, change))
  }
  const unread = [...edits.keys()].filter(number => !remembered.has(number))
  const known = await readNumbers(client, unread)
  for (const [number, edit] of edits) {
    const cached = remembered.get(number)
    const results = await (cached
      ? editRemembered(client, cached, edit)
      : editKnown(client, known.get(number), edit))
    for (const [index, change] of edit.entries())
      answers.set(change, results[index] ?? toUnknownPullAnswer(number))
  }
  return changes.map(change => answers.get(change) ?? toUnknownPullAnswer(0))
}

async function editKnown(
  client: GithubClient,
  known: KnownPull | undefined,
  edit: readonly PullEditing[],
): Promise<ForgeAnswer[]> {
  return known ? editPull(client, known, edit) : edit.map(({ number }) => toUnknownPullAnswer(number))
}

/** A refused change may be based on an outdated pull request, so it is read again before the second attempt. */
async function editRemembered(
  client: GithubClient,
  known: KnownPull,
  edit: readonly PullEditing[],
): Promise<ForgeAnswer[]> {
  const answers = await editPull(client, known, edit)
  if (answers.every(({ ok }) => ok)) return answers
  const { number } = known.pull
  return editKnown(client, (await readNumbers(client, [number])).get(number), edit)
}

async function openOrRefuse(client: GithubClient, change: NewPull): Promise<ForgeAnswer> {
  try {
    return await openPull(client, change)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return toRefusedAnswer(error, null)
  }
}

function groupEdits(changes: readonly ForgeChange[]): Map<number, PullEditing[]> {
  const edits = new Map<number, PullEditing[]>()
  for (const change of changes) {
    if (change.kind === 'open') continue
    edits.set(change.number, [...(edits.get(change.number) ?? []), change])
  }
  return edits
}

function toUnknownPullAnswer(number: number): ForgeAnswer {
  return { ok: false, code: 'unknown-pull', number: null, message: `there is no pull request #${number}` }
}

/** GitHub ignores a repeated reaction. A deleted comment needs none. */
async function addReaction(client: GithubClient, comment: string, content: Reaction): Promise<void> {
  const values = { ...client.where, comment_id: Number(comment), content }
  await requestUnlessMissing(() => client.rest.reactions.createForIssueComment(values))
}

/** Internal repositories count as private, because their minutes are billed too. */
async function isPrivate(client: GithubClient): Promise<boolean> {
  return (await client.rest.repos.get(client.where)).data.private
}
