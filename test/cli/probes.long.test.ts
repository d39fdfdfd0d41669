import { describe, expect, it } from 'vitest'
import { type Project, project } from './project.ts'

/** Counts the steps that code in its own process says it took: whatever that code prints is believed. */
const FILES = {
  'src/work.sh': 'work() {\n  echo 100\n}\n',
  'bench/steps.sh': '. src/work.sh\nprintf \'{"steps": %s}\' "$(work)"\n',
  'bench/test.sh': '. src/work.sh\ntest "$(work)" -gt 0 || exit 1\necho "1 passed"\n',
  'tools/think.sh': `grep -q 100 src/work.sh || { echo 'no other idea'; exit 1; }
sed -i 's/100/90/' src/work.sh
echo '{"hypothesis": "ten steps less"}'
`,
}

function specWith(rest = ''): string {
  return `winnow: 1
metric: { primary: { name: steps, direction: minimize } }
measurement: { command: sh bench/steps.sh }
gates: [{ name: tests, command: sh bench/test.sh }]
scope: { mutable: [src/] }
propose: [{ use: command, command: sh tools/think.sh, name: thinker }]
stopping: { max_iterations: 1 }
${rest}`
}

function campaignOf(spec: string, files: Record<string, string> = {}): Project {
  return project({ ...FILES, '.winnow/steps.yaml': spec, ...files })
}

interface Event {
  kind: string
  [field: string]: unknown
}

async function eventsIn(person: Project): Promise<Event[]> {
  const { out } = await person.winnow('log', '--json')
  return out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Event)
}

async function expectProven(person: Project): Promise<void> {
  for (const command of ['audit', 'replay'])
    expect([command, (await person.winnow(command)).code]).toEqual([command, 0])
}

describe('a program on a harness that believes what the code prints', () => {
  it('waits for a person, who reads why, and the word stands wherever the change is shown', async () => {
    const person = campaignOf(specWith())
    const first = await person.winnow('run')
    expect(first.err).toMatch(/^probes: the harness is forgeable by: .*forge/m)
    expect(first.err).toMatch(/exp-001 held: steps 100 -> 90 .*a person has to read the change/)
    const probes = (await eventsIn(person)).filter(
      ({ kind, purpose }) => kind === 'order-issued' && purpose === 'probe',
    )
    expect(probes).toHaveLength(1)

    const status = await person.winnow('status')
    expect(status.out).toMatch(/^Campaign steps \(the harness is forgeable by: .*forge.*\): /)
    const { guard } = (await person.json('status')) as { guard: string }
    expect(status.out).toContain(`(the harness is ${guard})`)
    expect((await person.winnow('approve')).out).toContain(`the harness is ${guard}`)

    expect((await person.winnow('approve', 'exp-001')).code).toBe(0)
    expect((await person.winnow('run')).err).toContain('exp-001 landed as')
    expect(person.git('log', '-1', '--format=%B', 'optimize/steps')).toContain(`Winnow-Harness: ${guard}`)
    expect((await person.winnow('show', 'exp-001')).out).toMatch(new RegExp(`^ {2}harness +${guard}$`, 'm'))
    expect((await person.winnow('results', 'exp-001')).out).toContain(`guard: "${guard}"`)
    await expectProven(person)
  }, 120_000)

  it('is closed with the reason where the spec denies it, and lands where the spec allows it', async () => {
    const denied = campaignOf(specWith('merge: { forgeable: deny }\n'))
    await denied.winnow('run')
    expect((await denied.winnow('show', 'exp-001')).out).toMatch(
      /the harness is forgeable by: .*\(merge\.forgeable: deny\)/,
    )
    const allowed = campaignOf(specWith('merge: { forgeable: allow }\n'))
    expect((await allowed.winnow('run')).err).toContain('exp-001 landed as')
    await expectProven(allowed)
  }, 120_000)
})

describe('a person on such a harness', () => {
  it('gets a verdict that lands, with the word', async () => {
    const person = campaignOf(specWith().replace(/^propose: .*\n/m, ''))
    person.write('src/work.sh', 'work() {\n  echo 90\n}\n')
    const tried = await person.winnow('try', '-m', 'ten steps less')
    expect(tried.code, tried.err).toBe(0)
    expect(tried.out).toMatch(/^ {2}the harness is forgeable by: .*forge/m)
    person.git('checkout', '-q', '.')
    await expectProven(person)
  }, 120_000)
})

describe('a harness that does not use the files in scope', () => {
  it('pauses the campaign, which names the commands', async () => {
    const person = campaignOf(specWith(), {
      'lib/work.sh': FILES['src/work.sh'],
      'bench/steps.sh': FILES['bench/steps.sh'].replace('src/', 'lib/'),
      'bench/test.sh': FILES['bench/test.sh'].replace('src/', 'lib/'),
    })
    await person.winnow('run')
    const { out } = await person.winnow('status')
    expect(out).toMatch(/^Campaign steps \(the harness is forgeable by: vanish.*\): paused, /)
    expect(out).toContain('do not use those files: sh bench/steps.sh; sh bench/test.sh')
    await expectProven(person)
  }, 60_000)
})
