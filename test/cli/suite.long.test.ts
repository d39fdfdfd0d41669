import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { releaseTest } from '../support/cases.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import type { HarnessTrial } from '../../src/report/check-trial.ts'
import { project, type Project } from './project.ts'

/**
 * Answers a task by what the prompt asks for. Citing helps in every task. Shouting helps in two of them and spoils the
 * third. Each run differs a little.
 */
const HARNESS = `prompt=$(cat prompts/planner.md)
score=40
case "$prompt" in *cite*) score=$((score + 30)) ;; esac
case "$prompt/$WINNOW_TASK" in
  *shout*/octopi) score=$((score - 30)) ;;
  *shout*/*) score=$((score + 40)) ;;
esac
score=$((score + $(od -An -N1 -tu1 /dev/urandom) % 3))
[ "$WINNOW_TASK_TEXT" = "Write a card about $WINNOW_TASK." ] || exit 9
printf '{"status":"complete","eval":{"score":0.%02d},"critique":{"score":0.5},"final_budget":{"budget_remaining_pct":60}}' \\
  "$score" > "$WINNOW_OUT_DIR/run_completion.json"
: > "$WINNOW_OUT_DIR/metrics.jsonl"
`

const TASKS = ['octopi', 'neutron_stars', 'silk_road']

const SPEC = `winnow: 1
metric:
  primary: { type: loss, name: loss, direction: minimize }
  max_task_regression: { type: absolute, value: 0.05 }
measurement:
  command: sh run-task.sh
  suite:
    seeds: 4
    tasks: [${TASKS.map(name => `{ name: ${name}, task: Write a card about ${name}. }`).join(', ')}]
gates: [{ name: prompt, command: test -s prompts/planner.md }]
scope: { mutable: [prompts/] }
propose: [{ use: patch, dir: ideas }]
stopping: { max_iterations: 4 }
`

function patch(text: string): string {
  return `diff --git a/prompts/planner.md b/prompts/planner.md
--- a/prompts/planner.md
+++ b/prompts/planner.md
@@ -1 +1 @@
-Plan the work.
+${text}
`
}

const FILES = {
  '.winnow/cards.yaml': SPEC,
  'run-task.sh': HARNESS,
  'prompts/planner.md': 'Plan the work.\n',
  'ideas/1-cite.patch': patch('Plan the work and cite sources.'),
  'ideas/2-shout.patch': patch('Plan the work and shout.'),
}

function addUp(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0)
}

/** The executions of every order, by its purpose. */
async function countExecutions(person: Project): Promise<Record<string, number[]>> {
  const { out } = await person.winnow('log', '--json')
  const events = out
    .trim()
    .split('\n')
    .map((line): LedgerEvent => JSON.parse(line))
  const purposes = new Map(
    events.map(event => [event.id, event.kind === 'order-issued' ? event.purpose : '']),
  )
  const counted: Record<string, number[]> = {}
  for (const event of events)
    if (event.kind === 'measured')
      (counted[purposes.get(event.order) ?? ''] ??= []).push(event.report.executions.length)
  return counted
}

describe('a suite of three tasks', () => {
  it('keeps what lowers the loss of every task, and not what spoils one of them', async () => {
    const person = project(FILES)
    const checked = await person.winnow('check')
    expect(checked.out).toMatch(
      /^ {2}noise: pairs \(task, seed\) would differ by 0\.0\d+, estimated from 12 runs of one pass/m,
    )
    expect(checked.out).toMatch(/^ {2}smallest visible gain: /m)
    expect(checked.out).toMatch(/^ {2}before the first idea, two such jobs: 48 executions$/m)
    expect(checked.out).toMatch(/^ {2}one job of pairs, of which an idea needs one or more: 24 executions$/m)
    expect(checked.out).toMatch(/^ {2}attacks on the harness, and more if one of them gains: 5 executions$/m)
    expect(checked.out).toMatch(/^ {4}forge text +no gain: /m)
    expect(checked.out).toMatch(/^ {2}harness: guarded$/m)
    const forecast = (await person.json('check', '--no-probes')) as { tried: HarnessTrial }
    const { code, out } = await person.winnow('run')
    expect([code, out]).toEqual([0, expect.stringMatching(/1 kept/)])

    const counted = await countExecutions(person)
    const { each_keep, headline, null_idea } = forecast.tried.prospects ?? {}
    expect(counted).toMatchObject({ probe: [5], effect: [each_keep?.executions] })
    // Two jobs, or more where they disagree by chance.
    expect(counted['calibration']?.length).toBeGreaterThanOrEqual(2)
    expect(new Set(counted['calibration'])).toEqual(new Set([24]))
    expect(addUp(counted['progression'] ?? [])).toBe(headline?.executions)
    // Both ideas share the base: a pass of each of three sides, or less where it is clear before its end.
    for (const executions of counted['experiment'] ?? []) expect(executions).toBeLessThanOrEqual(36)
    expect(counted['experiment']?.length).toBeGreaterThan(0)
    expect((null_idea?.executions ?? 0) / (null_idea?.jobs ?? 1)).toBeCloseTo(24)

    const status = await person.json('status')
    expect(status).toMatchObject({
      guard: 'guarded',
      baseline: { tasks: Object.fromEntries(TASKS.map(task => [task, expect.closeTo(0.406, 1)])) },
      verdicts: { kept: 1 },
    })
    const { out: seen } = await person.winnow('status')
    expect(seen).toContain('weakest tasks: ')

    const shown = await person.winnow('show', '2')
    expect(shown.out).toMatch(/^exp-002 Worse: .*task octopi proven worse/m)
    expect(shown.out).toMatch(/^ {2}task +base +candidate +budget +critique +eval +gate_rejections +status/m)
    expect(shown.out).toMatch(/^ {2}octopi +0\.4\d* +0\.5\d* +worse/m)

    const results = parse((await person.winnow('results', '1')).out)
    expect(results.tasks.map(({ task }: { task: string }) => task).toSorted()).toEqual(TASKS.toSorted())
    const [one] = results.tasks
    const sum = Object.values<{ candidate: number }>(one.parts).reduce((all, part) => all + part.candidate, 0)
    expect(sum).toBeCloseTo(one.candidate, 9)
    const audit = await person.winnow('audit')
    expect([audit.code, audit.out + audit.err]).toEqual([0, expect.anything()])
  }, 300_000)
})

describe('tasks that one execution prints', () => {
  releaseTest(
    'are pairs of their own where the spec asks for it',
    async () => {
      const random = '$(od -An -N1 -tu1 /dev/urandom)'
      const task = (name: string) => `"${name}": 0.$((score + ${random} % 3))`
      const harness = `prompt=$(cat prompts/planner.md)
score=40
case "$prompt" in *cite*) score=70 ;; esac
echo "{\\"score\\": 0.$score, \\"tasks\\": {${TASKS.map(task).join(', ').replaceAll('"', '\\"')}}}"
`
      const spec = `winnow: 1
metric: { primary: { name: score, direction: maximize } }
measurement: { command: sh run-task.sh, mode: paired, per_case: true, probes: off }
evidence: { pairs_per_job: 12, scale: linear, min_effect: 0.05 }
gates: [{ name: prompt, command: test -s prompts/planner.md }]
scope: { mutable: [prompts/] }
propose: [{ use: patch, dir: ideas }]
stopping: { max_iterations: 4 }
merge: { hold_above: null }
`
      const { 'ideas/2-shout.patch': _shout, ...files } = FILES
      const person = project({ ...files, 'run-task.sh': harness, '.winnow/cards.yaml': spec })
      const { code, out } = await person.winnow('run')
      expect([code, out]).toEqual([0, expect.stringMatching(/1 kept/)])
      const shown = (await person.winnow('show', '1')).out
      expect(shown).toMatch(/\d+ pairs of 3 tasks in \d jobs on this machine/)
      expect(shown).toMatch(/^ {2}octopi +0\.4\d* +0\.7\d* +better/m)
      const audit = await person.winnow('audit')
      expect([audit.code, audit.out + audit.err]).toEqual([0, expect.anything()])
    },
    200_000,
  )
})

describe('a suite that is too small to prove anything', () => {
  const small = SPEC.replace('seeds: 4', 'seeds: 1')

  it('is refused, with the seeds that would be enough, unless it is advisory: then means decide', async () => {
    const refused = await project({ ...FILES, '.winnow/cards.yaml': small }).winnow('check')
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining(
        'found 3 (task, seed) pairs, expected at least 12; add tasks, set seeds: 4, or set advisory: true',
      ),
    ])

    const person = project({ ...FILES, '.winnow/cards.yaml': small.replace('seeds: 1', 'advisory: true') })
    const checked = await person.winnow('check')
    expect([checked.code, checked.out]).toEqual([
      0,
      expect.stringMatching(/^ {2,4}octopi +0\.4\d* +0\.2\d* +0\.15 /m),
    ])
    const { code, out } = await person.winnow('run')
    expect([code, out]).toEqual([0, expect.stringMatching(/1 kept, 1 worse/)])
    const shown = (await person.winnow('show', '2')).out
    expect(shown).toMatch(/task octopi 0\.4\d* -> 0\.5\d*: worse by more than max_task_regression allows/)
    expect(shown).toContain('not noise-proof')
    const audit = await person.winnow('audit')
    expect([audit.code, audit.out + audit.err]).toEqual([0, expect.anything()])
  }, 120_000)
})

describe('winnow optimize', () => {
  it('shows an AWP suite as a spec, runs it once, and prints the loss of each task', async () => {
    const seed = readFileSync('fixtures/suites/research_writeup.suite.yaml', 'utf8')
    const suite = seed.replace('"Write a 200-word summary..."', 'Write a card about summarise_paper.')
    const person = project(FILES)
    person.write('suite.yaml', suite)
    const { code, out } = await person.winnow(
      'optimize',
      'suite.yaml',
      '--command',
      'sh run-task.sh',
      '--write',
    )
    expect([code, out]).toEqual([0, expect.stringContaining('name: research-writeup-v1')])
    expect(out).toContain('note: the suite research_writeup_v1 is the campaign research-writeup-v1')
    expect(out).toContain('wrote .winnow/research-writeup-v1.yaml')
    expect(readFileSync(join(person.dir, '.winnow/research-writeup-v1.yaml'), 'utf8')).toContain(
      'sh run-task.sh',
    )
    expect(out).toMatch(/^baseline [0-9a-f]+: mean loss 0\.4\d+ over 1 task, 1 run of [\d.]+ s$/m)
    expect(out).toMatch(/^ {2}summarise_paper +0\.4\d* +0\.[23]\d*/m)

    const again = await person.json('optimize', '.winnow/cards.yaml')
    expect(again).toMatchObject({ campaign: 'cards', pass: { mean: expect.closeTo(0.4, 1) } })

    const failing = await person.winnow('optimize', 'suite.yaml', '--command', 'echo no quota >&2; exit 3')
    expect([failing.code, failing.err]).toEqual([13, expect.stringContaining('every task failed')])
    expect(failing.err).toContain('last lines of stderr:\n    no quota\n')
    const nested = `echo '{"eval": {"score": 0.4}}'`
    expect((await person.winnow('optimize', 'suite.yaml', '--command', nested)).err).toContain(
      'valid: {"eval": 0.8, "critique": 0.6, "status": "complete"}',
    )
  }, 120_000)
})
