import { describe, expect, it } from 'vitest'
import { clonedProject, FILES, project, SPEC } from './project.ts'

describe('winnow check', () => {
  it('says what may change, and where ideas come from, and runs nothing with --no-try', async () => {
    const { winnow } = project()
    const { code, out, err } = await winnow('check', '--no-try')
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n')).toEqual([
      '.winnow/size.yaml is valid: campaign size, winnow defaults, read from the work tree.',
      '  scope: 1 file may change (src/value), 2 may not (.winnow/size.yaml, bench/size.sh)',
      '  ideas: winnow propose, branches below optimize-exp/size/, pull requests against optimize/size',
      '  dependencies: new packages wait for winnow approve; those with install scripts are refused',
      '  gate: tests: test -s src/value (pre)',
      '  isolation: none; experiment code runs with your rights and can read your home directory, and one idea can reach the files of another',
      '  cost: this machine measures, so no runner is paid for; no model is asked; what programs spend that are asked for ideas is not counted',
      '  stops after: 100 experiments, 40 without a new incumbent, 8 hours',
      '  merges into: optimize/size, and never into the default branch',
      '  compared: bytes (primary, lower is better), each idea run once if it repeats exactly, else in pairs of base and idea',
      '  smallest gain: any, where bytes repeats exactly; else 2 % of the base (the default of evidence.min_effect)',
      'Nothing was run. Without --no-try, winnow runs setup, gates and harness on the default branch, and estimates noise, time and the smallest visible gain.',
      '',
    ])
  })

  it('answers as JSON', async () => {
    const view = await project().json('check', '--no-try')
    expect(view).toMatchObject({
      campaign: 'size',
      scope: { mutable: 1, outside: 2, unmatched: [] },
      unsupported: [],
      warnings: [],
      metrics: [{ name: 'bytes', role: 'primary', direction: 'minimize', compared: 'once or pairs' }],
      tried: null,
    })
  })

  it('names every mistake at once, with line and column', async () => {
    const { winnow, write } = project()
    write('.winnow/size.yaml', 'winnow: 1\nscope: { mutble: [src/] }\nmeasurement: { comand: x }\n')
    const { code, err } = await winnow('check')
    expect(code).toBe(2)
    expect(err).toContain('.winnow/size.yaml:2:10')
    expect(err).toContain('.winnow/size.yaml:3:16')
  })

  it('names machinery that is not built yet, that a run would refuse, and does not try it', async () => {
    const { winnow, write } = project()
    write('.winnow/size.yaml', SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, isolation: bwrap'))
    const { code, out, err } = await winnow('check')
    expect([code, err]).toEqual([2, ''])
    expect(out).toContain('  not supported yet: measurement.isolation bwrap: this isolation is not built yet')
    expect(out).toContain('This spec cannot be run: it uses features that are not built yet.')
    expect(out).not.toContain('tried')
  })

  it('refuses what only jobs on GitHub give, but where the repository lies there: that is said', async () => {
    const spec = `${SPEC}execution: { runs_on: [self-hosted, bench] }\n`
    const { winnow, winnowWith } = project({ ...FILES, '.winnow/size.yaml': spec })
    const here = await winnow('check', '--no-try')
    expect(here.out).toContain('  not supported yet: execution.runs_on: choosing a runner is, but for')
    const run = await winnow('run')
    expect([here.code, run.code, run.err]).toEqual([2, 2, expect.stringContaining('this machine measures')])
    const env = { GITHUB_REPOSITORY: 'team/project', GITHUB_API_URL: 'https://api.github.com' }
    const there = await winnowWith({ env }, 'check', '--no-try')
    expect([there.code, there.out]).toEqual([
      0,
      expect.stringContaining(
        '  note: execution.runs_on is for campaigns on GitHub: on this machine winnow run',
      ),
    ])
  })

  it('names a pattern that matches nothing, and refuses a scope of no file', async () => {
    const { winnow, write } = project()
    write('.winnow/size.yaml', SPEC.replace('[src/]', '[source/]'))
    const { code, out } = await winnow('check')
    expect(code).toBe(2)
    expect(out).toContain('  scope.mutable source/ matches no file')
    expect(out).toContain('no committed file may change')
  })

  it('names a spec that is not committed, and changes that are not used', async () => {
    const { write, json } = project()
    write('.winnow/new.yaml', SPEC)
    write('src/value', 'b\n')
    write('notes.txt', 'mine\n')
    const { warnings } = await json('check', '.winnow/new.yaml', '--no-try')
    expect(warnings).toEqual([
      '.winnow/new.yaml is not committed on main, so winnow run does not use it',
      '1 change inside scope.mutable not committed, so not measured: src/value',
      '1 change in the work tree not committed and not used: notes.txt',
    ])
  })

  it('names a work tree spec that is not the committed one, and commits that are not pushed', async () => {
    const { write, commit, json } = clonedProject()
    commit('local only', { 'src/value': 'short\n' })
    write('.winnow/size.yaml', `${SPEC}# changed\n`)
    const { warnings } = await json('check', '--no-try')
    expect(warnings).toEqual([
      '.winnow/size.yaml in the work tree differs from main of the remote: winnow uses the committed spec',
      '1 local commit not on main of the remote: not used until pushed there',
    ])
  })

  it('tries set-up, gates and harness, and says what they printed and whether it repeats', async () => {
    const { winnow, refs } = project()
    const before = refs()
    const { code, out, err } = await winnow('check')
    expect([code, err]).toEqual([0, 'attacking the harness with 1 change that must not be kept\n'])
    expect(out).toMatch(/^ {2}tried: bytes 100 in \S+ s; passed tests$/m)
    expect(out).toContain('  repeats exactly: yes, equal in 3 runs with different seeds and builds')
    expect(out).toContain('  compared: bytes (primary, lower is better), each idea runs once, a gain twice')
    expect(out).toMatch(/^ {2}time: at most 4 executions or \S+ min an idea, \S+ min for 100, /m)
    expect(out).not.toContain('Nothing was run')
    expect(refs()).toBe(before)
  })

  it('attacks the harness, and says what stopped each attack', async () => {
    const { out } = await project().winnow('check')
    expect(out).toMatch(/\n {2}attacks: winnow measured 1 change that must not be kept, in \S+ s\n/)
    expect(out).toMatch(/\n {4}vanish {2}caught by gate tests\n {2}harness: guarded\n$/)
    const { probes } = await project().json('check')
    const result = { name: 'vanish', caught_by: 'gate tests', applicable: true }
    expect(probes).toMatchObject({ guard: { is: 'guarded' }, results: [result], ignored_by: null })
    const without = await project().winnow('check', '--no-probes')
    expect([without.code, without.err]).toEqual([0, ''])
    expect(without.out).not.toContain('attacks')
  })

  it('refuses commands that do not use the files that may change', async () => {
    const elsewhere = { ...FILES, 'bench/size.sh': 'echo "{\\"bytes\\": 7}"\n' }
    elsewhere['.winnow/size.yaml'] = SPEC.replace('test -s src/value', 'test -e src/value')
    const { code, out } = await project(elsewhere).winnow('check')
    expect(code).toBe(2)
    expect(out).toContain(
      'NOT caught: every command succeeds without the code, and the number stays the same',
    )
    expect(out).toContain('    succeeded without the code: sh bench/size.sh\n')
  })

  it('refuses a harness that does not use the files that may change, though a gate does', async () => {
    const spec = SPEC.replace('sh bench/size.sh', JSON.stringify(`echo '{"bytes":1}'`))
    const constant = { ...FILES, '.winnow/size.yaml': spec }
    const { code, out } = await project(constant).winnow('check')
    expect(code).toBe(2)
    expect(out).toContain(
      'NOT caught: the harness succeeds without the code, and prints the same; only gate tests failed\n',
    )
    expect(out).toContain('its harness does not use the files in scope.mutable, so no idea could change')
    expect(out).toContain(`    succeeded without the code: echo '{"bytes":1}'\n`)
    expect(out).not.toContain('guarded')
  })

  it('refuses a suite whose tasks score the same without the texts', async () => {
    const suite = `winnow: 1
metric: { primary: { name: score, direction: maximize } }
measurement:
  command: sh bench/task.sh
  suite: { advisory: true, tasks: [{ name: short, task: One word. }, { name: long, task: Ten words. }] }
gates: [{ name: grades, command: sh bench/task.sh }]
scope: { mutable: [prompts/] }
`
    const files = {
      '.winnow/cards.yaml': suite,
      'prompts/worker.md': 'Be brief.\n',
      'bench/task.sh': 'echo "{\\"score\\": 0.${#WINNOW_TASK}}"\n',
    }
    const { code, out, err } = await project(files).winnow('check')
    expect(code, err).toBe(2)
    expect(out).toContain(
      'NOT caught: every command succeeds without the texts, and every score stays the same',
    )
    expect(out).toContain('    succeeded without the texts: sh bench/task.sh\n')
  })

  it('tells a harness that does not work, with what it printed last', async () => {
    const broken = { ...FILES, 'bench/size.sh': 'echo "cannot find the ruler" >&2; exit 3\n' }
    const { code, err } = await project(broken).winnow('check')
    expect(code).toBe(13)
    expect(err).toContain(
      'error: the default branch does not pass: the harness crashed: ended with exit code 3',
    )
    expect(err).toContain('    cannot find the ruler')
  })

  it('tells a gate that the default branch itself fails', async () => {
    const failing = {
      ...FILES,
      '.winnow/size.yaml': SPEC.replace('test -s src/value', 'echo not today; false'),
    }
    const { code, err } = await project(failing).winnow('check')
    expect(code).toBe(13)
    expect(err).toContain('gate tests failed (exit 1)')
    expect(err).toContain('not today')
  })

  it('warns of what is asked for and not printed, and of a gain that noise would hide', async () => {
    const spec = SPEC.replace('minimize }', 'minimize }, diagnostics: [{ name: bites }]')
    const person = project({ ...FILES, '.winnow/size.yaml': `${spec}evidence: { min_effect: 0 }\n` })
    const { code, out } = await person.winnow('check')
    expect(code).toBe(0)
    expect(out).toContain(
      '  warning: evidence.min_effect is 0, and a noisy metric can never show that: unless bytes repeats exactly, give the smallest gain worth having',
    )
    expect(out).toContain(
      '  warning: bites (metric.diagnostics) is not printed; printed is bytes: did you mean bytes?',
    )
    const timed = SPEC.replace('name: bytes', 'name: wall_seconds')
    const never = project({ ...FILES, '.winnow/size.yaml': `${timed}evidence: { min_effect: 0 }\n` })
    const { err } = await never.winnow('check', '--no-try')
    expect(err).toContain('error: evidence.min_effect: evidence.min_effect is 0, and a noisy metric')
  })

  it.each([
    [['check', '.winnow/sise.yaml'], 'did you mean .winnow/size.yaml?'],
    [['check', '../elsewhere.yaml'], 'is outside the repository'],
    [['check', '--campaign', 'other'], 'there is no spec of campaign other'],
  ])('%j says what is wrong', async (argv, expected) => {
    const { code, err } = await project().winnow(...argv)
    expect([code, err]).toEqual([2, expect.stringContaining(expected)])
  })

  it('takes the name of a campaign for its spec', async () => {
    const person = project()
    person.write('.winnow/other.yaml', SPEC)
    const { code, out } = await person.winnow('check', 'size', '--no-try')
    expect([code, out]).toEqual([0, expect.stringContaining('.winnow/size.yaml is valid: campaign size')])
  })

  it('asks which, where there are several specs, and says so where there is none', async () => {
    const { write, winnow } = project({ 'README.md': 'nothing yet\n' })
    const { err } = await winnow('check')
    expect(err).toContain(
      'error: .winnow/<name>.yaml: there is no spec here\n  fix: winnow init writes one; or name a file',
    )
    write('.winnow/a.yaml', SPEC)
    write('.winnow/b.yaml', SPEC)
    expect((await winnow('check')).err).toContain('there are several specs: .winnow/a.yaml, .winnow/b.yaml')
  })

  it('says when it is interrupted that no campaign was changed', async () => {
    const abort = new AbortController()
    abort.abort()
    const { code, err } = await project().winnowWith({ signal: abort.signal }, 'check')
    expect([code, err]).toEqual([130, expect.stringContaining('no campaign was changed')])
  })
})
