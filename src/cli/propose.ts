import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { stringify } from 'yaml'
import { requireHome } from '../engine/campaign/context.ts'
import { type Submission, submitIdea } from '../engine/campaign/submit.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { fetchCommit } from '../engine/jobs/job-clone.ts'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner } from '../git/runner.ts'
import { PATCH_FILE, type PatchIdea } from '../ideas/patch-text.ts'
import { applyPatchFile, commitPatchedTree, readPatchBytes } from '../ideas/patch.ts'
import type { Campaign } from '../model/campaign.ts'
import { prioritySchema } from '../model/event-schemas.ts'
import type { Oid } from '../model/ids.ts'
import { toOneLine } from '../model/text.ts'
import { describeProposedIdeas } from '../report/resume-hint.ts'
import { changeCampaign } from './context.ts'
import { readDefaultTip } from './default-branch.ts'
import type { Call, CommandContext, Option, Verb } from './verb.ts'

/** Optional details of an idea, with the same keys in every verb. */
interface IdeaDetails {
  hypothesis: string
  category?: string | undefined
  priority?: string | undefined
  required_deps?: readonly string[] | undefined
  family?: string | undefined
  idea?: string | undefined
}

interface OfferedIdea {
  commit: Oid
  /** Repository that holds the commit; null for winnow's own. */
  from: string | null
  idea: IdeaDetails
}

const BRANCH_NAME = /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i

export const CATEGORY: Option = {
  name: 'category',
  value: 'word',
  summary: 'the kind of idea, such as caching',
}

export const FAMILY: Option = {
  name: 'family',
  value: 'word',
  summary: 'ideas of one family are variants of each other',
}

export const PRIORITY: Option = {
  name: 'priority',
  values: prioritySchema.options,
  summary: 'how soon to measure it (default: medium)',
}

export const proposeVerb: Verb = {
  name: 'propose',
  group: 'more',
  summary: 'submit a commit or a patch file as an experiment',
  access: 'write',
  arguments: [
    {
      name: 'commit',
      summary: 'a commit, or a .patch, .diff or .mbox file; HEAD by default',
    },
  ],
  options: [
    {
      name: 'message',
      short: 'm',
      value: 'idea',
      summary: 'the hypothesis; by default the subject of the commit or patch',
    },
    CATEGORY,
    PRIORITY,
    {
      name: 'needs',
      value: 'package',
      many: true,
      summary: 'a package that the change adds; a person has to approve it',
    },
    FAMILY,
    {
      name: 'name',
      value: 'branch',
      summary: 'name of the experiment branch; use it again with a new commit to update it',
    },
  ],
  examples: [
    'winnow propose -m "cache the parsed header"',
    'winnow propose fast-path --needs left-pad --priority high',
    'winnow propose 0001-use-a-map.patch',
  ],
  run: call =>
    changeCampaign(call, async (context, campaign) => {
      requireHome(context.campaignContext, campaign)
      const given = call.given.positionals[0] ?? 'HEAD'
      const patches = await readGivenPatches(call, context, given, campaign)
      await submitIdeas(call, context, patches ?? [await readCommitIdea(call, context, given)])
    }),
}

/** Submits each idea as a branch. All patches were validated before the first submission. */
export async function submitIdeas(
  call: Call,
  context: CommandContext,
  ideas: readonly OfferedIdea[],
): Promise<void> {
  const { terminal } = call
  for (const idea of ideas.map(each => buildSubmission(call, each, ideas.length))) {
    const branch = await submitIdea(context.campaignContext, idea)
    if (context.dryRun === null) terminal.out(`${branch}: ${idea.message.split('\n', 1)[0]}`)
  }
  if (context.dryRun !== null) return
  const { campaign } = (await requireCampaign(context.campaignContext)).loaded
  terminal.out(describeProposedIdeas(campaign, ideas.length))
}

/** Options take precedence over the details in a patch. */
function buildSubmission({ given }: Call, { commit, from, idea }: OfferedIdea, count: number): Submission {
  const name = given.text('name')
  const sentence = given.text('message')
  if (count > 1 && (name ?? sentence) !== undefined) {
    throw new UserError(`the file has ${count} ideas, and --message and --name are for one`, {
      fix: 'leave them out: each idea is named by the subject of its mail',
    })
  }
  const title = toOneLine(sentence ?? idea.hypothesis, 300)
  if (title === '')
    throw new UserError('the idea has no description', {
      fix: 'winnow propose -m "what it does, and why it helps"',
    })
  const branch = name ?? `${toSlug(title)}-${commit.slice(0, 8)}`
  if (!BRANCH_NAME.test(branch) || branch.endsWith('.lock')) {
    throw new UserError(`${JSON.stringify(branch)} cannot name an idea`, {
      fix: "use letters and digits, joined by single '-', '_' or '.'",
    })
  }
  const packages = [...(idea.required_deps ?? []), ...given.texts('needs')]
  const text = renderIdeaMessage({
    hypothesis: title,
    category: given.text('category') ?? idea.category,
    priority: given.text('priority') ?? idea.priority,
    required_deps: packages,
    family: given.text('family') ?? idea.family,
  })
  return { commit, from, isOurs: from === null, name: branch, message: text }
}

function toSlug(title: string): string {
  const plain = title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return plain.slice(0, 40).replace(/^-+|-+$/g, '') || 'idea'
}

// Reading ideas

async function readCommitIdea(
  { environment }: Call,
  { repositoryContext }: CommandContext,
  given: string,
): Promise<OfferedIdea> {
  const { commit, subject } = await resolveCommit(environment, given)
  return { commit, from: repositoryContext.checkout.commonDir, idea: { hypothesis: subject } }
}

async function resolveCommit({ directory, env }: Call['environment'], given: string) {
  const git = createGitRunner(buildLocalIsolation(directory, env))
  const found = await git.run({
    args: ['log', '-1', '--format=%H%x00%s', '--end-of-options', given, '--'],
    answers: [128],
    parse: output => output,
  })
  const [commit = '', subject = ''] = found.stdout.trim().split('\0')
  if (found.exitCode === 0 && commit !== '') return { commit, subject }
  throw new UserError(`${given} is not a commit of this repository, and no patch file`, {
    fix: 'give a commit, a branch, a tag, or a file that git format-patch or git diff wrote',
  })
}

/** Commits each patch of the file on the incumbent. Returns null if the argument is not a patch file. */
export async function readGivenPatches(
  call: Call,
  context: CommandContext,
  given: string,
  { incumbent }: Campaign,
): Promise<OfferedIdea[] | null> {
  if (!PATCH_FILE.test(given)) return null
  const path = resolve(call.environment.directory, given)
  const info = await stat(path).catch(toNullIfMissing)
  if (info === null || !info.isFile()) return null
  const ideas = readPatchBytes(await readFile(path), given)
  if (ideas.some(({ simplifies }) => simplifies))
    call.terminal.err(`note: kind: simplify of ${given} is not used: it counts only in the folder of propose`)
  const { repository } = context.campaignContext
  const fallbackBase = await readDefaultTip(context.repositoryContext, call.environment)
  await fetchCommit(repository, incumbent.commit)
  const offered: OfferedIdea[] = []
  for (const patch of ideas) {
    const changed = await applyPatchFile(
      { repo: repository, incumbent, fallbackBase },
      { ...patch, path: given },
    )
    if ('rejected' in changed) throw createPatchRefusal(changed.rejected, patch, ideas.length)
    const { hypothesis } = patch.idea
    const commit = await commitPatchedTree(repository, incumbent, changed.tree, hypothesis)
    offered.push({ commit, from: null, idea: { ...patch.idea, family: patch.idea.family ?? undefined } })
  }
  return offered
}

function createPatchRefusal(why: string, { idea }: PatchIdea, count: number): UserError {
  const which = count === 1 ? '' : ` ("${idea.hypothesis}", one of ${count} in it)`
  return new UserError(`${why}${which}`, {
    fix: 'create the patch from the default branch or the optimize branch; winnow submitted no idea of the file',
  })
}

// Details of an idea

/** Renders an idea as a commit message. A fenced block has the details, as in a pull request. */
export function renderIdeaMessage({ hypothesis, required_deps = [], ...details }: IdeaDetails): string {
  const needs = required_deps.length === 0 ? {} : { required_deps }
  const block = Object.entries({ ...details, ...needs }).filter(([, value]) => value !== undefined)
  if (block.length === 0) return `${hypothesis}\n`
  const yaml = stringify(Object.fromEntries(block), { lineWidth: 0 })
  return `${hypothesis}\n\n\`\`\`winnow\n${yaml}\`\`\`\n`
}
