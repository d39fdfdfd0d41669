import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageFiles, type Wanted } from '../support/package-files.ts'
import { FILES, type Project, project, proven, SPEC } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

/** Whatever is set up leaves a line in the person's home: what never ran left none. */
const SETUP = 'wc -c < src/value >> "$HOME/ran"\n'
const OPEN = SPEC.replace('bench/size.sh', 'bench/size.sh, setup: sh bench/setup.sh, env: [HOME]').replace(
  '[src/]',
  '[src/, package.json, package-lock.json]',
)
const LEFT_PAD = { 'left-pad': { version: '1.3.0' } } satisfies Wanted
const BOTH = { ...LEFT_PAD, ansi: { version: '2.0.0' } } satisfies Wanted

async function asked(more: { spec?: string; change?: Record<string, string> } = {}): Promise<Project> {
  const person = project({
    ...FILES,
    ...packageFiles({}),
    'bench/setup.sh': SETUP,
    '.winnow/size.yaml': `${OPEN}${more.spec ?? ''}`,
  })
  await person.winnow('run')
  await bring(person, more.change ?? packageFiles(LEFT_PAD))
  return person
}

async function bring(person: Project, change: Record<string, string>, length = 50): Promise<void> {
  person.git('checkout', '-q', '--detach', 'main')
  person.commit('shorter, with a package', { 'src/value': `${'a'.repeat(length - 1)}\n`, ...change })
  const offered = await person.winnow('propose', '-m', 'pads faster', '--name', 'mine')
  expect([offered.code, offered.err]).toEqual([0, ''])
  person.git('checkout', '-q', 'main')
}

function ran(person: Project): string[] {
  const file = join(person.cache, 'ran')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
}

describe('an idea that adds a package', () => {
  it('waits, is shown with what it adds, and is measured once that is approved', async () => {
    const person = await asked()
    const waiting = await person.winnow('run')
    expect([waiting.code, waiting.out]).toEqual([
      14,
      expect.stringContaining(
        'approval of left-pad 1.3.0 (npm) for exp-001. winnow approve lists what to review',
      ),
    ])
    expect(ran(person)).not.toContain('50')
    expect((await person.winnow('status')).out).toContain(
      'Waiting for approval of left-pad 1.3.0 (npm). Next: winnow approve exp-001.',
    )
    expect((await person.json('show', 'exp-001'))['verdict']).toBe(
      'waiting for approval of left-pad 1.3.0 (npm)',
    )

    const { out } = await person.winnow('approve')
    expect(out).toContain('exp-001 is waiting for approval of left-pad 1.3.0 (npm)\n  why: pads faster\n')
    expect(out).toMatch(
      /left-pad +1\.3\.0 +npm, https:\/\/registry\.npmjs\.org\/ +direct, package-lock\.json, \^1\.3\.0 in package\.json +no other +none +MIT +not asked +waits/,
    )
    expect(out).toMatch(/To approve exp-001: winnow approve exp-001 --digest [0-9a-f]{16}\n$/)

    const before = person.refs()
    expect((await person.winnow('approve', '--all', '--dry-run')).out).toMatch(
      /event \d+ approved .*"packages":\["left-pad"\]/,
    )
    const dry = await person.winnow('approve', '1', '--dry-run')
    expect(dry.out).toMatch(/event \d+ approved .*"packages":\["left-pad"\]/)
    expect(person.refs()).toBe(before)

    const yes = await person.winnow('approve', 'exp-001')
    expect([yes.code, yes.out]).toEqual([
      0,
      'exp-001: left-pad 1.3.0 (npm) approved by ada. The next winnow run measures it.\n',
    ])
    expect((await person.winnow('approve', 'exp-001')).out).toContain('was approved already')
    expect((await person.winnow('log')).out).toContain('exp-001 approved by ada: left-pad')
    await person.winnow('run')
    expect((await person.json('show', 'exp-001'))['outcome']).toBe('kept')
    expect(ran(person)).toContain('50')
    expect((await person.winnow('approve')).out).toBe('No approvals are pending.\n')
    await proven(person)
  })

  it('waits on, when its set changed after it was looked at', async () => {
    const person = await asked()
    await person.winnow('run')
    const [request] = (await person.json('approve'))['waiting'] as { digest: string }[]
    const digest = request?.digest ?? ''
    await bring(person, packageFiles(BOTH))
    await person.winnow('approve', 'exp-001')
    await person.winnow('run')
    expect(ran(person)).not.toContain('50')

    const late = await person.winnow('approve', 'exp-001', '--digest', digest)
    expect([late.code, late.err]).toEqual([
      2,
      expect.stringContaining(`exp-001 changed since digest ${digest}: the digest is now `),
    ])
    expect(late.err).toContain('winnow approve lists what it waits for')
    const [now] = (await person.json('approve'))['waiting'] as { digest: string }[]
    const whole = now?.digest.slice(0, 16) ?? ''
    const short = await person.winnow('approve', 'exp-001', '--digest', whole.slice(0, 15))
    expect([short.code, short.err]).toEqual([
      2,
      expect.stringContaining('is too short: give at least 16 digits'),
    ])
    expect(short.err.replaceAll(/\s+/g, ' ')).toContain(`then winnow approve exp-001 --digest ${whole}`)

    const some = await person.winnow('approve', 'exp-001', 'ansi')
    expect(some.out).toBe(
      'exp-001: ansi 2.0.0 (npm) approved by ada. It still waits for left-pad 1.3.0 (npm).\n',
    )
    const alone = await person.winnow('approve', '--digest', digest)
    expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('winnow approve <exp> --digest')])
    const strange = await person.winnow('approve', 'exp-001', 'right-pad')
    expect([strange.code, strange.err]).toEqual([
      2,
      expect.stringContaining('exp-001 does not add right-pad'),
    ])
    expect((await person.winnow('approve', 'exp-001', '--all')).err).toContain(
      '--all is about every experiment',
    )
    const all = await person.winnow('approve', '--all', '--json')
    expect(JSON.parse(all.out)).toMatchObject({
      approved: [{ experiment: 'exp-001', approved: ['left-pad'], left: [] }],
      held: [],
    })
    expect((await person.winnow('approve', '--all')).out).toBe('No approvals are pending.\n')
    await person.winnow('run')
    expect(ran(person)).toContain('50')
    await proven(person)
  })

  it.each(
    selectCases([
      [
        'touches a script',
        packageFiles(LEFT_PAD, { scripts: { postinstall: 'sh x' } }),
        'package.json changes scripts',
      ],
      [
        'runs install scripts',
        packageFiles({ 'left-pad': { version: '1.3.0', scripts: true } }),
        'adds left-pad 1.3.0 (npm), which runs install scripts: set dependencies.allow_scripts',
      ],
      ['cannot be read', { 'package-lock.json': '{' }, 'package-lock.json cannot be read'],
    ]),
  )('is refused when it %s', async (_, change, reason) => {
    const person = await asked({ change })
    await person.winnow('run')
    expect(await person.json('show', 'exp-001')).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining(reason),
    })
    expect(ran(person)).not.toContain('50')
  })

  releaseTest('has one more round when it is approved after the campaign stopped', async () => {
    const person = await asked({ spec: 'stopping: { max_iterations: 1 }\n' })
    await person.winnow('run')
    person.git('checkout', '-q', '--detach', 'main')
    person.commit('longer', { 'src/value': `${'a'.repeat(119)}\n` })
    await person.winnow('propose', '-m', 'no package')
    person.git('checkout', '-q', 'main')
    const stopped = await person.winnow('run')
    expect([stopped.code, stopped.out]).toEqual([
      15,
      expect.stringContaining(
        'exp-001 is waiting for approval of left-pad 1.3.0 (npm): winnow approve exp-001 gives it one more round at the next winnow run',
      ),
    ])
    const yes = await person.winnow('approve', '1')
    expect(yes.out).toContain('The campaign has stopped; the next winnow run gives it one more round.')
    const again = await person.winnow('run')
    expect(again.err).toContain(
      'resumed: exp-001 was approved after the stop, so winnow starts one more round',
    )
    const status = await person.json('status')
    expect(status).toMatchObject({ state: 'stopped', verdicts: { kept: 1 } })
    await proven(person)
  })

  releaseTest('waits for a resume when a person stops it', async () => {
    const person = await asked()
    await person.winnow('run')
    await person.winnow('stop')
    expect(await person.json('show', 'exp-001')).toMatchObject({ outcome: null })
    const late = await person.winnow('approve', 'exp-001')
    expect(late.out).toContain('The campaign has stopped; it is measured after winnow resume.')
    await person.winnow('run')
    expect(await person.json('show', 'exp-001')).toMatchObject({ outcome: null })
    await person.winnow('resume')
    await person.winnow('run')
    expect(await person.json('show', 'exp-001')).toMatchObject({ outcome: 'kept' })
  })
})
