import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { type Choice, chooseCampaign } from '../../src/verbs/choose-campaign.ts'
import type { KnownCampaign } from '../../src/verbs/known-campaigns.ts'
import { project, SPEC, FILES } from './project.ts'

function known(name: string, started = false): KnownCampaign {
  return { name, specPath: `.winnow/${name}.yaml`, spec: null, prefix: 'optimize', started, problem: null }
}

function choose(all: KnownCampaign[], choice: Partial<Choice> = {}): string {
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
      'there is no campaign sise: there is parser, size / did you mean size?',
    )
    expect(choose(all, { spec: 'prser' })).toBe(
      'there is no campaign prser: there is parser, size / did you mean parser?',
    )
    expect(choose([], { name: 'x' })).toContain('there is none')
    expect(choose(all, { spec: '.winnow/sizes.yaml' })).toBe(
      '.winnow/sizes.yaml is not on the default branch / did you mean .winnow/size.yaml?',
    )
    expect(choose(all, { spec: 'specs/other.yaml' })).toContain('commit it (and push it)')
  })

  it('cannot be told where there is nothing', () => {
    expect(choose([])).toContain('no spec on the default branch, and no ledger')
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
    expect((await winnow('status')).out).toContain('Campaign size: running')
  })
})
