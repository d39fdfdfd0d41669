import { expect, test } from 'vitest'
import { packageFiles } from '../support/package-files.ts'
import { letters, SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { patchOf, proven } from '../support/repository.ts'
import type { RunRecord } from './emulator/world.ts'
import type { Bill } from './runner/bill.ts'
import { type RunningCampaign, startCampaign } from './runner/campaign.ts'
import type { JobRecord } from './runner/records.ts'
import { LEFT_PAD } from './waiting-for-review.ts'

/** What an idea may cost, a campaign's beginning and everything that people do included. */
const BUDGET = { runs: 2, minutes: 4, requests: 15, idleJobs: 1, idleRequests: 3 }

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'] as const
type Letter = (typeof LETTERS)[number]

const change = (letter: Letter, count: number) => ({ [`src/${letter}.txt`]: letters(letter, count) })

function patch(letter: Letter, lines: string, hypothesis: string): string {
  return patchOf({ [`src/${letter}.txt`]: [letters(letter, 15), lines] }, { hypothesis })
}

/** Has one idea, and fails where that has been tried. */
const THINK = `
test -n "$WINNOW_MODEL_KEY" || { echo 'there is no key'; exit 1; }
test "$(wc -c < src/$1.txt)" = 16 || { echo 'no other idea'; exit 1; }
echo "$1$1" > src/$1.txt
echo "{\\"hypothesis\\": \\"two letters $1 do\\"}"
`

/** Tries to be measured as something else, and to speak to the runner. */
const EVIL = `#!/bin/sh
for file in "$GITHUB_OUTPUT" "$GITHUB_ENV" "$GITHUB_STEP_SUMMARY" "$RUNNER_TEMP"/_runner_file_commands/*; do
  echo 'report=/etc/passwd' >> "\${file:-/dev/null}"
done 2>/dev/null
echo '::set-output name=report::/etc/passwd'
echo '##[set-output name=partial]/etc/passwd' >&2
echo 'echo "{\\"bytes\\": 1}"' > bench/size.sh
`

const GATE = '#!/bin/sh\nsh src/run.sh && ! grep -q broken src/*.txt\n'

const PROPOSERS = [
  '{ use: patch, dir: ideas }',
  '{ use: external }',
  '{ use: command, command: sh tools/think.sh h, name: thinker }',
  '{ use: command, command: sh tools/think.sh i, name: dreamer }',
]
const SPEC = `${SIZE_SPEC.replace(/propose: .*/, `propose: [${PROPOSERS.join(', ')}]`).replace(
  'mutable: [src/]',
  'mutable: [src/, package.json, package-lock.json]',
)}execution: { max_concurrent: 4 }
merge: { unisolated: allow, forgeable: allow, max_pull_requests_per_hour: 100 }
dependencies: { approvers: write }
stopping: { max_iterations: 13 }
`

const FILES = {
  ...SIZE_FILES,
  ...packageFiles({}),
  ...Object.fromEntries(LETTERS.map(letter => [`src/${letter}.txt`, letters(letter, 15)])),
  'src/run.sh': '#!/bin/sh\ntrue\n',
  'bench/test.sh': GATE,
  'tools/think.sh': THINK,
  'ideas/01.patch': patch('a', letters('a', 3), 'three letters a do'),
  'ideas/02.patch': patch('c', 'broken\n', 'breaks the tests'),
  'ideas/03.patch': patch('d', letters('x', 15), 'other letters'),
  'ideas/04.patch': patch('b', letters('b', 9), 'nine letters b do'),
  'ideas/05.patch': patch('d', letters('d', 20), 'more letters'),
  'ideas/06.patch': patch('e', letters('e', 6), 'six letters e do'),
  'ideas/07.patch': patch('a', letters('a', 3), 'three letters a, once more'),
  'ideas/08.patch': patchOf({ 'bench/test.sh': [GATE, 'true\n'] }, { hypothesis: 'another harness' }),
}

/** By title. Which of several gains in one round is taken first, says chance. */
const OUTCOMES = {
  'three letters a do': 'kept',
  'breaks the tests': 'degenerate',
  'other letters': 'dropped',
  'nine letters b do': 'kept',
  'more letters': 'dropped',
  'six letters e do': 'kept',
  'three letters a, once more': 'refused',
  'another harness': 'refused',
  'two letters h do': 'kept',
  'two letters i do': 'kept',
  'five letters c do': 'kept',
  'one letter j does': 'kept',
  'a workflow of its own': 'refused',
  'a small library': 'kept',
  'four letters f do': 'kept',
  'nothing to see here': 'dropped',
}

const isMeasuring = ({ name }: JobRecord, step: string) => step === 'measure' && name.includes('vs incumbent')

test('sixteen ideas, from the workflow file alone, to the end', { timeout: 900_000 }, async () => {
  /** What people do, each once, while a job measures. */
  const deeds: {
    when: (job: JobRecord, step: string) => boolean
    does: (job: JobRecord) => Promise<void>
  }[] = [
    { when: (_, step) => step === 'measure', does: () => offerAll(it) },
    { when: isMeasuring, does: async job => it.actions.cancel(runOf(it, job)) },
    { when: isMeasuring, does: () => allowAll(it) },
  ]
  const it: RunningCampaign = await startCampaign({
    name: 'size',
    spec: SPEC,
    files: FILES,
    options: {
      environments: {
        'winnow-models': {
          secrets: { WINNOW_MODEL_KEY: 'key-of-a-model' },
          branches: /^(?:main|optimize\/.+)$/,
        },
      },
      async during(job, step) {
        if (deeds[0]?.when(job, step) === true) await deeds.shift()?.does(job)
      },
    },
  })
  await it.asks('ada', 'POST /actions/workflows/winnow.yml/dispatches', { ref: 'main' })
  await it.rest()
  const client = await it.openClient()
  expect(settledOutcomes(await client.outcomes())).toEqual(OUTCOMES)
  expect(await client.campaign()).toMatchObject({ status: 'stopped' })
  await merge(it)
  const bill = it.actions.bill()
  const idle = await fireIdleSchedule(it)
  expect(conclusionsOf(it)).toEqual({ success: bill.runs.length, cancelled: 1 })
  await proven(client.place)
  const ideas = Object.keys(OUTCOMES).length
  const figures = figuresOf(bill, idle, ideas)
  if (process.env['WINNOW_FIGURES'] !== undefined) console.log(linesOf(figures, ideas).join('\n'))
  for (const [name, budget] of Object.entries(BUDGET))
    expect([name, figures[name]]).toEqual([name, atMost(budget)])
})

async function offerAll(it: RunningCampaign): Promise<void> {
  await it.offers('five letters c do', change('c', 5))
  await it.offers('one letter j does', change('j', 1))
  await it.offers('a workflow of its own', { '.github/workflows/own.yml': 'on: push\njobs: {}\n' })
  await it.offers('a small library', { ...change('g', 2), ...packageFiles(LEFT_PAD) }, 'mia')
  await it.offersFromFork('eve', 'four letters f do', change('f', 4))
  await it.offersFromFork('eve', 'nothing to see here', { 'src/run.sh': EVIL })
}

async function allowAll(it: RunningCampaign): Promise<void> {
  await it.asks('ada', `POST /pulls/${it.pull('a small library').number}/reviews`, { event: 'APPROVE' })
  for (const title of ['four letters f do', 'nothing to see here']) {
    const { number, head } = it.pull(title)
    await it.asks('ada', `POST /issues/${number}/comments`, { body: `/winnow measure ${head}` })
  }
}

/** A person takes all of it; the next scheduled run sees that. */
async function merge(it: RunningCampaign): Promise<void> {
  const own = it.github.world.pulls.find(({ base }) => base === 'main')
  if (!own) throw new Error('the campaign has no pull request')
  own.draft = false
  await it.asks('ada', `PUT /pulls/${own.number}/merge`, {})
  await it.actions.fireSchedule()
  await it.rest()
}

async function fireIdleSchedule(it: RunningCampaign): Promise<Bill> {
  const before = new Set(it.actions.bill().runs.map(({ run }) => run))
  await it.actions.fireSchedule()
  await it.rest()
  const runs = it.actions.bill().runs.filter(({ run }) => !before.has(run))
  const [jobs, requests] = [runs[0]?.jobs ?? 0, runs[0]?.requests ?? 0]
  return { runs, jobs, minutes: jobs, requests }
}

function runOf({ github }: RunningCampaign, { run }: JobRecord): RunRecord {
  const found = github.world.runs.find(({ id }) => id === run)
  if (!found) throw new Error(`no run ${run}`)
  return found
}

/** What a round lands second is kept as well. */
function settledOutcomes(outcomes: Record<string, string | null>): Record<string, string | null> {
  const entries = Object.entries(outcomes)
  return Object.fromEntries(
    entries.map(([title, outcome]) => [title, outcome === 'runner_up_kept' ? 'kept' : outcome]),
  )
}

/** Runs by how they ended, those of the last schedule left out. */
function conclusionsOf({ github }: RunningCampaign): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { conclusion } of github.world.runs) counts[`${conclusion}`] = (counts[`${conclusion}`] ?? 0) + 1
  return counts
}

function figuresOf(bill: Bill, idle: Bill, ideas: number): Record<string, number> {
  return {
    runs: bill.runs.length / ideas,
    minutes: bill.minutes / ideas,
    requests: bill.requests / ideas,
    idleJobs: idle.jobs,
    idleRequests: idle.requests,
  }
}

/** `npm run bench:requests` prints them. */
function linesOf(
  { runs = 0, minutes = 0, requests = 0, idleJobs, idleRequests }: Record<string, number>,
  ideas: number,
): string[] {
  const each = (figure: number, budget: number) => `${figure.toFixed(1)} (at most ${budget})`
  return [
    `a campaign of ${ideas} ideas, for each of them:`,
    `  runs ${each(runs, BUDGET.runs)}`,
    `  billed job-minutes ${each(minutes, BUDGET.minutes)}`,
    `  API requests ${each(requests, BUDGET.requests)}`,
    `a scheduled run with nothing to do: jobs ${idleJobs} (${BUDGET.idleJobs}), requests ${idleRequests} (${BUDGET.idleRequests})`,
  ]
}

function atMost(budget: number): unknown {
  return expect.toSatisfy((figure: number) => figure <= budget, `at most ${budget}`)
}
