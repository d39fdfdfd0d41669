import { expect, test } from 'vitest'
import { FILES, project } from './project.ts'

const SUITE = `winnow: 1
metric: { primary: { type: loss, name: loss, direction: minimize } }
measurement: { command: sh run-task.sh, suite: { advisory: true, tasks: [{ name: a, task: one }] } }
gates: [{ name: prompt, command: test -s src/value }]
scope: { mutable: [src/] }
`
const ONE_OF_TWO = 'give one of the two'

test('no command ignores an option: it says which one, and what to do', async () => {
  const person = project({ ...FILES, '.winnow/suite.yaml': SUITE })
  const refused = async (...argv: string[]) => {
    const { code, out, err } = await person.winnow(...argv)
    expect([code, out]).toEqual([2, ''])
    const [, what, fix] = /^error: (.*)\n {2}fix: (.*)\n$/.exec(err) ?? []
    return [what, fix]
  }

  expect(await refused('measure', '4f72', '--order', 'order.json')).toEqual([
    '4f72 names an open order, and --order a file with one',
    ONE_OF_TWO,
  ])
  expect(await refused('measure', '--order', 'order.json', '--campaign', 'size')).toEqual([
    '--campaign has no effect with --order, which needs no campaign',
    'leave it out',
  ])
  expect(await refused('measure', '--allow-uncapped')).toEqual([
    '--allow-uncapped needs --order',
    'give --order FILE as well',
  ])

  const generate = ['idea', 'generate', '--agent', 'claude']
  expect(await refused(...generate, '--model', 'm')).toEqual([
    '--model and --agent both say who suggests ideas',
    ONE_OF_TWO,
  ])
  expect(await refused(...generate, '--category', 'caching')).toEqual([
    '--category has no effect on winnow idea generate',
    'leave it out',
  ])
  expect(await refused('idea', 'add', 'cache it', '-m', 'why')).toEqual([
    '--message has no effect on winnow idea add',
    'leave it out',
  ])
  expect(await refused('idea', 'list', 'size')).toEqual(['winnow idea list takes no "size"', 'leave it out'])
  expect(await refused('idea', 'drop', 'idea-003', '--all')).toEqual([
    '--all is about every suggested idea, and idea-003 about one',
    ONE_OF_TWO,
  ])

  expect(await refused('approve', 'a5b2045c14c74943', '--digest', 'a5b2045c')).toEqual([
    'a5b2045c14c74943 is the digest of a set, as --digest is',
    ONE_OF_TWO,
  ])
  expect(await refused('audit', '--trusted-root', 'roots.jsonl')).toEqual([
    '--trusted-root needs --require-attested',
    'give both',
  ])
  expect(await refused('check', '.winnow/size.yaml', '--campaign', 'suite')).toEqual([
    '.winnow/size.yaml is campaign size, but --campaign says suite',
    ONE_OF_TWO,
  ])
  expect(await refused('demo', '--skill', '--outer-loop')).toEqual([
    '--outer-loop and --skill are two demos',
    ONE_OF_TWO,
  ])
  expect(await refused('init', '--github', '--goal', 'make it faster')).toEqual([
    '--goal has no effect with --github, which writes no spec',
    'leave it out',
  ])
  expect(await refused('optimize', '.winnow/suite.yaml', '--write')).toEqual([
    '--write is for a suite of AWP, and .winnow/suite.yaml is a spec already',
    'leave it out',
  ])
  expect(await refused('optimize', '.winnow/suite.yaml', '--allow-uncapped')).toEqual([
    '--allow-uncapped is for a harness that asks models through winnow, and this one asks none',
    'leave it out',
  ])
  expect(await refused('optimize', '.winnow/suite.yaml', '--spend', '1', '--allow-uncapped')).toEqual([
    '--allow-uncapped and --spend contradict each other',
    ONE_OF_TWO,
  ])
})
