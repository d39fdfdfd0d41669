import fc from 'fast-check'
import { letters } from '../support/size-repository.ts'
import { patchOf } from '../support/patch-text.ts'

/** A small campaign as a value: its files, ideas and rules are all that its end may depend on. */
export interface SmallCampaign {
  remote: boolean
  /** Its numbers vary, so that pairs decide. */
  noisy: boolean
  files: number
  ideas: Idea[]
  /** Experiments in a round; 1: serial. */
  round: number
  runnersUp: number
  /** Ideas that are open at a time. */
  open: number
  /** Experiments after which it stops; null: when its ideas are used up. */
  last: number | null
}

type Idea =
  /** Other letters in these files: fewer is better, more is worse, as many is no gain. */
  | { is: 'edit'; files: number[]; letters: number; priority: string; category: string }
  /** Better alone, and worse beside another of its kind. */
  | { is: 'clash'; file: number }
  | { is: 'crash' | 'gate' | 'out of scope' | 'unreadable' | 'nothing' }
  | { is: 'again'; of: number }

const LENGTH = 15
const NAMES = ['a', 'b', 'c', 'd'] as const

const file = fc.nat({ max: NAMES.length - 1 })
const edit = fc.record({
  is: fc.constant('edit' as const),
  files: fc.oneof(fc.tuple(file), fc.uniqueArray(file, { minLength: 2, maxLength: 2 })),
  letters: fc.oneof(fc.integer({ min: 1, max: 22 }), fc.constant(LENGTH)),
  priority: fc.constantFrom('high', 'medium', 'low'),
  category: fc.constantFrom('one', 'two'),
})
const idea: fc.Arbitrary<Idea> = fc.oneof(
  { weight: 6, arbitrary: edit },
  { weight: 3, arbitrary: fc.record({ is: fc.constant('clash' as const), file }) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constantFrom('crash', 'gate', 'out of scope', 'unreadable', 'nothing'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('again' as const), of: fc.nat({ max: 2 }) }) },
)

export const smallCampaign: fc.Arbitrary<SmallCampaign> = fc.record({
  remote: fc.boolean(),
  noisy: fc.constantFrom(false, false, false, true),
  files: fc.constantFrom(2, 3, 4, 4),
  ideas: fc.array(idea, { minLength: 3, maxLength: 6 }),
  round: fc.integer({ min: 1, max: 3 }),
  runnersUp: fc.nat({ max: 2 }),
  open: fc.integer({ min: 2, max: 4 }),
  last: fc.constantFrom(null, null, null, 2, 3),
})

/** Counts the bytes of src; words in it make it crash, or dislike two changes together. */
const HARNESS = `#!/bin/sh
grep -q crash src/*.txt && { echo 'it went wrong' >&2; exit 3; }
extra=0
[ "$(cat src/*.txt | grep -c clash)" -gt 1 ] && extra=100
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) + extra ))"
`

/**
 * A thousand times the bytes, and a little more with each seed: both sides of a pair have one seed, so that verdicts
 * are the same whatever coins were drawn.
 */
const NOISY = HARNESS.replace('+ extra ))', '* 1000 + extra * 1000 + WINNOW_SEED % 401 ))')

export function filesOf(campaign: SmallCampaign): Record<string, string> {
  const names = NAMES.slice(0, campaign.files)
  const sources = names.map(name => [`src/${name}.txt`, letters(name, LENGTH)])
  const ideas = campaign.ideas.map((_, index) => [`ideas/${index + 1}.patch`, patchText(campaign, index)])
  return {
    '.winnow/size.yaml': specOf(campaign),
    'bench/size.sh': campaign.noisy ? NOISY : HARNESS,
    'bench/test.sh': '#!/bin/sh\n! grep -q broken src/*.txt\n',
    ...Object.fromEntries([...sources, ...ideas]),
  }
}

function specOf({ round, runnersUp, open, last }: SmallCampaign): string {
  const execution = round === 1 ? 'mode: serial' : `max_concurrent: ${round}`
  return `winnow: 1
metric: { primary: { name: bytes, direction: minimize } }
measurement: { command: sh bench/size.sh, timeout_seconds: 60, probes: off }
gates: [{ name: tests, command: sh bench/test.sh }]
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }]
execution: { ${execution} }
max_runner_up_merges_per_batch: ${runnersUp}
merge: { max_open_experiments: ${open}, forgeable: allow }
${last === null ? '' : `stopping: { max_iterations: ${last} }\n`}`
}

function patchText(campaign: SmallCampaign, index: number): string {
  const idea = campaign.ideas[index]
  if (idea === undefined) throw new Error(`there is no idea ${index}`)
  const hypothesis = `${index + 1}: ${idea.is}`
  const name = (number: number) => NAMES[number % campaign.files] ?? NAMES[0]
  const changed = (number: number, after: string): [string, [string, string]] => {
    return [`src/${name(number)}.txt`, [letters(name(number), LENGTH), `${after}\n`]]
  }
  switch (idea.is) {
    case 'edit': {
      const { priority, category } = idea
      const after = idea.letters === LENGTH ? 'z'.repeat(LENGTH) : 'y'.repeat(idea.letters)
      const change = Object.fromEntries(idea.files.map(number => changed(number, after)))
      return patchOf(change, { hypothesis, priority, category })
    }
    case 'clash':
      return patchOf(Object.fromEntries([changed(idea.file, 'clash')]), { hypothesis })
    case 'crash':
      return patchOf({ 'src/new.txt': [null, 'crash\n'] }, { hypothesis })
    case 'gate':
      return patchOf({ 'src/new.txt': [null, 'broken\n'] }, { hypothesis })
    case 'out of scope':
      return patchOf({ 'bench/more.sh': [null, 'echo 0\n'] }, { hypothesis })
    case 'unreadable':
      return 'diff --git a/x b/x\n'
    case 'nothing':
      return patchOf({}, { hypothesis })
    case 'again':
      return againText(campaign, idea.of % campaign.ideas.length, index, hypothesis)
    default:
      return idea satisfies never
  }
}

/** The same change under another name; of an idea that comes after it, or is one itself, nothing. */
function againText(campaign: SmallCampaign, of: number, index: number, hypothesis: string): string {
  if (of >= index || campaign.ideas[of]?.is === 'again') return patchOf({}, { hypothesis })
  return patchText(campaign, of).replace(/^hypothesis: .*$/m, `hypothesis: ${JSON.stringify(hypothesis)}`)
}
