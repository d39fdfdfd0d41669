import { requireHome } from '../engine/home.ts'
import { requireCampaign } from '../engine/session.ts'
import { submitIdea, type Submission } from '../engine/submit.ts'
import { UserError } from '../errors.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner } from '../git/runner.ts'
import { toOneLine } from '../model/landing.ts'
import { describeProposedIdeas } from '../report/way-on.ts'
import { withCampaign, type CommandContext } from './at-campaign.ts'
import type { Call } from './call.ts'
import { CATEGORY, FAMILY, renderIdeaBody, parsePriority } from './idea-block.ts'
import { type OfferedIdea, readGivenPatches } from './patches-given.ts'
import type { Verb } from './verb.ts'

export const proposeVerb: Verb = {
  name: 'propose',
  group: 'more',
  summary:
    'offer a commit or a patch file as an idea: a branch and a pull request that the campaign measures',
  access: 'write',
  arguments: [
    {
      name: 'commit',
      summary: 'a commit, or a .patch, .diff or .mbox file; HEAD by default',
      required: false,
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
    { name: 'priority', values: ['high', 'medium', 'low'], summary: 'how soon to measure it (medium)' },
    { name: 'dep', value: 'package', many: true, summary: 'a package that it adds, to be approved' },
    FAMILY,
    {
      name: 'name',
      value: 'branch',
      summary: 'its name below the experiments; again with a new commit updates it',
    },
  ],
  examples: [
    'winnow propose -m "cache the parsed header"',
    'winnow propose fast-path --dep left-pad --priority high',
    'winnow propose 0001-use-a-map.patch',
  ],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async scene => {
      const { campaign } = (await requireCampaign(scene.place)).loaded
      requireHome(scene.place, campaign)
      const given = call.given.positionals[0] ?? 'HEAD'
      const patches = await readGivenPatches(call, scene, { given, campaign })
      await submitIdeas(call, scene, patches ?? [await readCommitIdea(call, scene, given)])
      return 0
    }),
}

/** Each becomes a branch and a pull request; all were read before the first is offered. */
export async function submitIdeas(
  call: Call,
  scene: CommandContext,
  ideas: readonly OfferedIdea[],
): Promise<void> {
  const { terminal } = call
  for (const idea of ideas.map(each => buildSubmission(call, each, ideas.length))) {
    const { branch, pull } = await submitIdea(scene.place, idea)
    if (scene.dryRun === null) terminal.out(`#${pull} ${branch}: ${idea.title}`)
  }
  if (scene.dryRun !== null) return
  const { campaign } = (await requireCampaign(scene.place)).loaded
  terminal.out(describeProposedIdeas(campaign, ideas.length))
}

/** Options that a person gives come before what a patch says of itself. */
function buildSubmission({ given }: Call, { commit, from, idea }: OfferedIdea, count: number): Submission {
  const name = given.text('name')
  const message = given.text('message')
  if (count > 1 && (name ?? message) !== undefined) {
    throw new UserError(`the file has ${count} ideas, and --message and --name are for one`, {
      fix: 'leave them out: each idea is named by the subject of its mail',
    })
  }
  const title = toOneLine(message ?? idea.hypothesis, 300)
  if (title === '')
    throw new UserError('an idea needs a sentence', {
      fix: 'winnow propose -m "what it does, and why it helps"',
    })
  const branch = name ?? `${toSlug(title)}-${commit.slice(0, 8)}`
  requireName(branch)
  const packages = [...(idea.required_deps ?? []), ...given.texts('dep')]
  const body = renderIdeaBody({
    hypothesis: title,
    category: given.text('category') ?? idea.category,
    priority: parsePriority(given.text('priority')) ?? idea.priority,
    required_deps: packages,
    family: given.text('family') ?? idea.family,
  })
  return { commit, from, name: branch, title, body }
}

async function readCommitIdea(
  { around }: Call,
  { workshop }: CommandContext,
  given: string,
): Promise<OfferedIdea> {
  const { commit, subject } = await resolveCommit(around, given)
  return { commit, from: workshop.checkout.commonDir, idea: { hypothesis: subject } }
}

async function resolveCommit({ directory, env }: Call['around'], given: string) {
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

function toSlug(title: string): string {
  const plain = title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return plain.slice(0, 40).replace(/^-+|-+$/g, '') || 'idea'
}

function requireName(name: string): void {
  if (/^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i.test(name) && !name.endsWith('.lock')) return
  throw new UserError(`${JSON.stringify(name)} cannot name an idea`, {
    fix: "use letters and digits, joined by single '-', '_' or '.'",
  })
}
