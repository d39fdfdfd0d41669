import { requireHome } from '../engine/home.ts'
import { requireCampaign } from '../engine/session.ts'
import { submit } from '../engine/submit.ts'
import { UserError } from '../errors.ts'
import { localIsolation } from '../git/isolation.ts'
import { gitRunner } from '../git/runner.ts'
import { oneLine } from '../model/landing.ts'
import { atCampaign, type Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { CATEGORY, FAMILY, ideaBody, priorityGiven } from './idea-block.ts'
import type { Verb } from './verb.ts'

export const propose: Verb = {
  name: 'propose',
  group: 'more',
  summary: 'offer a commit as an idea: a branch and a pull request that the campaign will measure',
  access: 'write',
  arguments: [{ name: 'commit', summary: 'what to offer; HEAD by default', required: false }],
  options: [
    {
      name: 'message',
      short: 'm',
      value: 'idea',
      summary: "the hypothesis; by default the commit's subject",
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
  ],
  exits: {},
  run: call =>
    atCampaign(call, { access: 'write', startedOnly: true }, async scene => {
      requireHome(scene.place, (await requireCampaign(scene.place)).loaded.campaign)
      const idea = await ideaOf(call, scene)
      const { branch, pull } = await submit(scene.place, idea)
      if (scene.rehearsal === null) {
        call.terminal.out(`#${pull} ${branch}: ${idea.title}`)
        call.terminal.out('The next winnow run or tick makes it an experiment.')
      }
      return 0
    }),
}

async function ideaOf({ given, around }: Call, { workshop }: Scene) {
  const { commit, subject } = await resolveCommit(around, given.positionals[0] ?? 'HEAD')
  const title = oneLine(given.text('message') ?? subject, 300)
  if (title === '')
    throw new UserError('an idea needs a sentence', {
      fix: 'winnow propose -m "what it does, and why it helps"',
    })
  const name = given.text('name') ?? `${slug(title)}-${commit.slice(0, 8)}`
  requireName(name)
  const body = ideaBody({
    hypothesis: title,
    category: given.text('category'),
    priority: priorityGiven(given.text('priority')),
    required_deps: given.texts('dep'),
    family: given.text('family'),
  })
  return { commit, from: workshop.checkout.commonDir, name, title, body }
}

async function resolveCommit({ directory, env }: Call['around'], given: string) {
  const git = gitRunner(localIsolation(directory, env))
  const found = await git.run({
    args: ['log', '-1', '--format=%H%x00%s', '--end-of-options', given, '--'],
    answers: [128],
    parse: output => output,
  })
  const [commit = '', subject = ''] = found.stdout.trim().split('\0')
  if (found.exitCode === 0 && commit !== '') return { commit, subject }
  throw new UserError(`${given} is not a commit of this repository`, {
    fix: 'give a commit, a branch or a tag',
  })
}

function slug(title: string): string {
  const plain = title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return plain.slice(0, 40).replace(/^-+|-+$/g, '') || 'idea'
}

function requireName(name: string): void {
  if (/^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i.test(name) && !name.endsWith('.lock')) return
  throw new UserError(`${JSON.stringify(name)} cannot name an idea`, {
    fix: "use letters and digits, joined by single '-', '_' or '.'",
  })
}
