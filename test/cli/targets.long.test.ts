import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startLocalModel } from '../../src/judge/local-model.ts'
import { type Project, project } from './project.ts'

const SUITE = `name: cards
baseline_artifacts: { worker_pitfalls: 0 }
tasks:
  - { name: octopi, task: Write about octopi. }
  - { name: silk_road, task: Write about the silk road. }
`

/** Every line of the prompt helps, and one of the tasks needs sources. */
const HARNESS = `if [ "$WINNOW_TASK" = silk_road ] && ! grep -q Cite prompts/worker_pitfalls.md; then
  echo 'a card without sources' >&2
  exit 3
fi
lines=$(wc -l < prompts/worker_pitfalls.md)
echo "{\\"eval\\": 0.$((lines * 2)), \\"critique\\": 0.5, \\"gate_rejections\\": 0, \\"budget_remaining_pct\\": 50, \\"status\\": \\"complete\\"}"
`

const FILES = {
  'cards.suite.yaml': SUITE,
  'run-task.sh': HARNESS,
  'prompts/worker_pitfalls.md': 'Check the inputs.\n',
}

/** It adds this line. */
async function startOptimiser(line: string, questions: string[] = []): Promise<string> {
  const model = await startLocalModel(({ user }) => {
    questions.push(user)
    const [, content = ''] = /^([0-9a-f]{32})\n([\s\S]*?)\n\1$/m.exec(user)?.slice(1) ?? []
    const rewrite = { artifact_name: 'worker_pitfalls', proposed_content: `${content}${line}\n` }
    return JSON.stringify({ ...rewrite, rationale: line, expected_loss_reduction: 0.5, confidence: 0.5 })
  })
  onTestFinished(() => model.close())
  return model.url
}

const TARGETS = [
  { target: 'alpha:plan', name: 'alpha-plan', line: 'Plan in steps.' },
  { target: 'alpha:write', name: 'alpha-write', line: 'Cite sources.' },
] as const

const listRefs = (person: Project, name: string) =>
  person
    .refs()
    .split('\n')
    .filter(ref => ref.includes(name))

it('two targets run side by side in one repository, and neither touches the other', async () => {
  const person = project(FILES)
  for (const { target, name } of TARGETS) {
    const flags = ['--with-textgrad', '--learning-rate', '1', '--target', target, '--write', '--no-try']
    const written = await person.winnow(
      'optimize',
      'cards.suite.yaml',
      '--command',
      'sh run-task.sh',
      ...flags,
    )
    expect(written.out).toContain(`wrote .winnow/${name}.yaml`)
    // More lines are better here, whatever they say: the attack that repeats words gains.
    const spec = join(person.dir, `.winnow/${name}.yaml`)
    appendFileSync(spec, 'merge: { forgeable: allow }\n')
  }
  person.git('add', '-A')
  person.git('commit', '-q', '-m', 'two targets')
  const before = person.git('rev-parse', 'main')
  const questions: string[] = []
  const runs = TARGETS.map(async ({ name, line }) => {
    const env = { WINNOW_MODEL_URL: await startOptimiser(line, questions) }
    return person.winnowWith({ env }, 'run', name, '--allow-uncapped')
  })
  for (const { code, err } of await Promise.all(runs)) expect(code, err).toBe(0)
  expect(questions).toHaveLength(2)
  for (const question of questions)
    expect(question).toMatch(/failed: ended with exit code 3.* a card without sources/)

  for (const { name, line } of TARGETS) {
    const others = TARGETS.filter(other => other.name !== name)
    expect(listRefs(person, name).length).toBeGreaterThan(1)
    expect(person.git('show', `optimize/${name}:prompts/worker_pitfalls.md`)).toBe(
      `Check the inputs.\n${line}`,
    )
    expect(await person.json('inspect', '--campaign', name)).toMatchObject({
      campaign: name,
      epochs: [{ epoch: 0 }, { epoch: 0 }, { epoch: 0 }, { epoch: 1, artifacts: { worker_pitfalls: 1 } }],
      rounds: [{ experiments: [{ verdict: 'kept' }] }],
    })
    // The history and the ledger of one know nothing of the other.
    const told = [
      person.git('log', '--format=%B', `main..optimize/${name}`),
      person.git('grep', '-h', '', `refs/heads/optimize-state/${name}`, '--', 'events'),
    ]
    for (const other of others)
      for (const text of told)
        expect([text.includes(other.name), text.includes(other.line)]).toEqual([false, false])
  }

  // Going on with one leaves the branches of the other where they are.
  const [first, second] = TARGETS
  const [own, refs] = [listRefs(person, first.name), listRefs(person, second.name)]
  const env = { WINNOW_MODEL_URL: await startOptimiser('More.') }
  await person.winnow('rollback', 'worker_pitfalls', '0', '--campaign', first.name)
  await person.winnow('resume', '--campaign', first.name)
  await person.winnowWith({ env }, 'run', first.name, '--allow-uncapped')
  expect(listRefs(person, first.name)).not.toEqual(own)
  expect(listRefs(person, second.name)).toEqual(refs)
  expect(person.git('rev-parse', 'main')).toBe(before)
  expect(person.git('status', '--porcelain')).toBe('')
  expect(person.git('worktree', 'list').split('\n')).toHaveLength(1)
  for (const { name } of TARGETS)
    for (const verb of ['audit', 'replay'])
      expect(await person.winnow(verb, '--campaign', name)).toMatchObject({ code: 0 })
}, 120_000)
