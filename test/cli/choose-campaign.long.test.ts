import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { type CampaignChoice, chooseCampaign } from '../../src/cli/context.ts'
import type { KnownCampaign } from '../../src/cli/known-campaigns.ts'
import { FILES, project, proven, SPEC } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

function known(name: string, started = false): KnownCampaign {
  const specPath = `.winnow/${name}.yaml`
  const event = { kind: 'campaign-started', spec: name, spec_path: specPath, default_branch: 'main' } as const
  return {
    name,
    specPath,
    paths: [specPath],
    spec: null,
    prefix: 'optimize',
    started,
    start: started ? { ...event, spec_yaml: null } : null,
    problem: null,
  }
}

function choose(all: KnownCampaign[], choice: Partial<CampaignChoice> = {}): string {
  try {
    return chooseCampaign(all, { name: undefined, spec: undefined, startedOnly: false, ...choice }).name
  } catch (error) {
    if (error instanceof UserError) return `${error.message} / ${error.fix}`
    throw error
  }
}

describe('which campaign is meant', () => {
  it('is the only one', () => {
    expect(choose([known('a')])).toBe('a')
  })

  it('is the only one with a ledger, where a ledger is needed', () => {
    const all = [known('a'), known('b', true)]
    expect(choose(all, { startedOnly: true })).toBe('b')
    expect(choose([known('a')], { startedOnly: true })).toBe('a')
  })

  it('has to be said where there are several', () => {
    expect(choose([known('a'), known('b', true)])).toBe(
      'there are several campaigns: a, b / name one with --campaign',
    )
  })

  it('is named by --campaign, by its spec, or by its name', () => {
    const all = [known('a'), known('b')]
    expect(choose(all, { name: 'b' })).toBe('b')
    expect(choose(all, { spec: '.winnow/a.yaml' })).toBe('a')
    expect(choose(all, { spec: 'b' })).toBe('b')
    expect(choose(all, { spec: 'b', name: 'a' })).toBe(
      'b is campaign b, but --campaign says a / give one of the two',
    )
  })

  it('is not guessed from a name that nothing has', () => {
    const all = [known('parser'), known('size')]
    expect(choose(all, { name: 'sise' })).toBe(
      'there is no campaign sise; the campaigns are parser, size / did you mean size?',
    )
    expect(choose(all, { spec: 'prser' })).toBe(
      'there is no campaign prser; the campaigns are parser, size / did you mean parser?',
    )
    expect(choose([], { name: 'x' })).toContain('this repository has no campaign')
    expect(choose(all, { spec: '.winnow/sizes.yaml' })).toBe(
      '.winnow/sizes.yaml is not on the default branch / did you mean .winnow/size.yaml?',
    )
    expect(choose(all, { spec: 'specs/other.yaml' })).toContain('commit it (and push)')
  })

  it('cannot be told where there is nothing', () => {
    expect(choose([])).toContain('the default branch has no spec, and there is no ledger')
  })
})

/** As people of ce-optimize have them: anywhere, without winnow: 1. */
const CE = `name: anywhere
description: Fewer bytes.
metric:
  primary: { type: hard, name: bytes, direction: minimize }
  degenerate_gates: [{ name: bytes, check: "> 0" }]
measurement: { command: sh bench/size.sh, probes: off }
scope: { mutable: [src/], immutable: [bench/] }
propose: [{ use: external }]
`

describe('a spec that lies anywhere', () => {
  it.each(selectCases(['opt.yaml', 'deep/er/size.yml']))('is read at exactly that path: %s', async path => {
    const person = project({ ...FILES, [path]: CE })
    expect((await person.winnow('check', path)).out).toContain(
      `${path} is valid: campaign anywhere, ce defaults`,
    )
    const { code, err } = await person.winnow('run', path)
    expect([code, err]).toEqual([14, expect.stringContaining('campaign anywhere started')])
    const [started] = (await person.winnow('log', '--json')).out.split('\n')
    expect(JSON.parse(started ?? '')).toMatchObject({ spec: 'anywhere', spec_path: path })
    expect(await person.json('status')).toMatchObject({
      campaign: 'anywhere',
      baseline: { metrics: { bytes: 100 } },
    })
    expect((await person.winnow('run', path)).code).toBe(14)
    expect((await person.winnow('run', '--campaign', 'anywhere')).code).toBe(14)
    person.write(path, `${CE}limits: { max_files: 3 }\n`)
    expect((await person.winnow('amend', '-m', 'small', '--campaign', 'anywhere')).out).toContain(
      'is amended',
    )
    expect((await person.winnow('check', '--campaign', 'anywhere')).out).toContain(`${path} is valid`)
    await proven(person)
  })

  releaseTest('is found by its ledger below a prefix of its own', async () => {
    const files = { ...FILES, 'opt.yaml': `${CE}branches: { prefix: search }\n` }
    const person = project(files)
    await person.winnow('run', 'opt.yaml')
    expect(person.refs()).toContain('refs/heads/search-state/anywhere')
    expect((await person.winnow('status')).out).toContain(
      'Campaign anywhere (the harness is not probed): running',
    )
  })

  releaseTest('is not taken for one where a branch only looks like a ledger', async () => {
    const person = project()
    person.git('branch', 'mobile-state/app', 'main')
    await person.winnow('run')
    expect((await person.winnow('status')).out).toContain(
      'Campaign size (the harness is not probed): running',
    )
  })

  it('cannot start where a person has a branch with the name of its ledger, and no command touches that', async () => {
    const person = project()
    person.git('branch', 'optimize-state/notes', 'main')
    person.git('branch', 'optimize-state/size', 'main')
    const before = person.refs()
    for (const argv of [['run'], ['run', '--fresh'], ['status'], ['archive']]) {
      const { code, err } = await person.winnow(...argv)
      expect(code).toBe(2)
      expect(
        err.split('optimize-state/notes is not a ledger of winnow, so winnow leaves it alone.'),
      ).toHaveLength(2)
      expect(err).toContain(
        'error: optimize-state/size: optimize-state/size is not a ledger of winnow, and campaign size needs that name\n  fix: rename that branch, or choose another branches.prefix in the spec',
      )
    }
    expect((await person.winnow('doctor')).out).toContain(
      'optimize-state/notes is not a ledger of winnow, so winnow leaves it alone\n',
    )
    expect(person.refs()).toBe(before)
    person.git('branch', '-m', 'optimize-state/size', 'my-notes')
    expect((await person.winnow('run')).code).toBe(14)
    await proven(person)
  })

  it('has to be committed', async () => {
    const person = project()
    person.write('opt.yaml', CE)
    expect((await person.winnow('run', 'opt.yaml')).err).toContain('opt.yaml is not on the default branch')
  })

  releaseTest('has to be a file', async () => {
    const person = project({ ...FILES, 'deep/size.yaml': CE })
    expect((await person.winnow('check', 'deep')).err).toBe(
      'error: deep: deep is a directory, not a spec\n  fix: name a file: winnow check deep/size.yaml\n',
    )
    expect((await person.winnow('check', '.')).err).toContain('is a directory, not a spec')
  })

  it('has a name of its own', async () => {
    const person = project({ ...FILES, 'opt.yaml': CE.replace('anywhere', 'size') })
    const both = '.winnow/size.yaml and opt.yaml are both named size'
    for (const argv of [
      ['check', 'opt.yaml'],
      ['run', 'opt.yaml'],
    ]) {
      const { code, err } = await person.winnow(...argv)
      expect([argv, code, err]).toEqual([argv, 2, expect.stringContaining(both)])
    }
    expect((await person.winnow('run')).code).toBe(14)
    expect((await person.winnow('run', 'opt.yaml')).err).toContain(both)
  })

  releaseTest('has a name of its own among those in .winnow', async () => {
    const named = `${SPEC}name: same\n`
    const person = project({ ...FILES, '.winnow/size.yaml': named, '.winnow/other.yaml': named })
    expect((await person.winnow('run')).err).toBe(
      'error: .winnow/other.yaml name: .winnow/other.yaml and .winnow/size.yaml are both named same\n' +
        '  fix: give one of them another name\n',
    )
  })

  it('that moved is not the one the campaign runs by, until it is started afresh', async () => {
    const person = project()
    await person.winnow('run')
    person.git('mv', '.winnow/size.yaml', 'size.yaml')
    person.commit('move the spec')
    expect((await person.winnow('run', 'size.yaml')).err).toBe(
      'error: size.yaml: campaign size was started from .winnow/size.yaml, not from size.yaml\n' +
        '  fix: move the spec back, or winnow run --fresh size.yaml\n',
    )
    expect((await person.winnow('run', '--fresh', 'size.yaml')).code).toBe(14)
    expect((await person.winnow('run', 'size.yaml')).code).toBe(14)
  })
})

describe('campaigns of a repository', () => {
  it('are chosen by the spec file a person names from where they are', async () => {
    const { winnowWith, dir } = project({ ...FILES, '.winnow/other.yaml': SPEC })
    const several = await winnowWith({}, 'run', '--dry-run')
    expect([several.code, several.err]).toEqual([
      2,
      'error: there are several campaigns: other, size\n  fix: name one with --campaign\n',
    ])
    const named = await winnowWith({ directory: `${dir}/src` }, 'run', '../.winnow/other.yaml', '--dry-run')
    expect(named.err).toBe('')
    expect(named.out).toContain('refs/heads/optimize/other created')
  })

  it('may have a prefix of their own, and are found by it again', async () => {
    const prefixed = `${SPEC}branches: { prefix: search }\n`
    const { winnow, refs } = project({ ...FILES, '.winnow/size.yaml': prefixed })
    await winnow('run')
    expect(refs()).toContain('refs/heads/search-state/size')
    expect(refs()).not.toContain('refs/heads/optimize')
    expect((await winnow('status')).out).toContain('Campaign size (the harness is not probed): running')
  })
})
