import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  checkRelease,
  majorBranchName,
  readFacts,
  readSection,
  type ReleaseFacts,
} from '../../.github/scripts/check-release.ts'
import { projectLinks, renderCodeowners } from '../../.github/scripts/project-links.ts'
import { setRepository } from '../../.github/scripts/set-repository.ts'
import { scratch, userRepository } from '../git/scratch.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const REPOSITORY = 'octo/winnow'
const CHANGELOG = '# Changelog\n\n## 1.2.3 (2026-11-19)\n\n- Faster.\n\n## 1.2.30\n\n- Older.\n'

const READY: ReleaseFacts = {
  tag: 'v1.2.3',
  repository: REPOSITORY,
  manifest: { version: '1.2.3', ...projectLinks(REPOSITORY) },
  lockedVersion: '1.2.3',
  changelog: CHANGELOG,
  codeowners: renderCodeowners(['@octocat']),
  isOnDefaultBranch: true,
  containsMajorBranch: true,
}
const problemsWith = (changed: Partial<ReleaseFacts>) =>
  checkRelease({ ...READY, ...changed }).problems.map(({ what }) => what)

describe('checkRelease', () => {
  it('says what a version is published as', () => {
    expect(checkRelease(READY)).toEqual({
      release: { version: '1.2.3', channel: 'latest', majorBranch: 'v1', notes: '- Faster.' },
      problems: [],
    })
  })

  it('publishes a prerelease as next, and moves no branch for it', () => {
    const facts = {
      tag: 'v2.0.0-rc.1',
      manifest: { ...READY.manifest, version: '2.0.0-rc.1' },
      lockedVersion: '2.0.0-rc.1',
      changelog: '## 2.0.0-rc.1\n\n- New.\n',
    }
    expect(checkRelease({ ...READY, ...facts })).toEqual({
      release: { version: '2.0.0-rc.1', channel: 'next', majorBranch: '', notes: '- New.' },
      problems: [],
    })
  })

  it.each([
    ['a tag that is no version', { tag: 'v1.2' }, 'The tag v1.2 is not a version.'],
    ['leading zeros', { tag: 'v01.2.3' }, 'The tag v01.2.3 is not a version.'],
    [
      'another version in package.json',
      { manifest: { ...READY.manifest, version: '1.2.2' } },
      'package.json has version 1.2.2, and the tag is v1.2.3.',
    ],
    [
      'another version in the lock file',
      { lockedVersion: '1.2.2' },
      'package-lock.json has version 1.2.2, and the tag is v1.2.3.',
    ],
    ['no changelog', { changelog: '## Unreleased\n\n- x\n' }, 'CHANGELOG.md has no section for 1.2.3.'],
    ['an empty section', { changelog: '## 1.2.3\n\n## 1.2.2\n' }, 'CHANGELOG.md has no section for 1.2.3.'],
    [
      'a commit elsewhere',
      { isOnDefaultBranch: false },
      'The commit of v1.2.3 is not on the default branch.',
    ],
    [
      'an older commit than the major branch',
      { containsMajorBranch: false },
      'The branch v1 has commits that v1.2.3 does not contain.',
    ],
    ['no owners', { codeowners: '# nobody\n*\n' }, '.github/CODEOWNERS names no owner.'],
  ])('refuses %s', (_name, changed, what) => {
    expect(problemsWith(changed)).toEqual([what])
  })

  it('refuses a repository that package.json does not name, because npm would refuse its provenance', () => {
    const { problems } = checkRelease({ ...READY, manifest: { version: '1.2.3' } })
    expect(problems.map(({ what }) => what)).toEqual([
      'package.json does not name octo/winnow in homepage, bugs, repository.',
    ])
    expect(problems[0]?.fix).toContain('node .github/scripts/set-repository.ts octo/winnow @OWNER')
    expect(problemsWith({ repository: 'fork/winnow' })).toHaveLength(1)
  })
})

describe('readSection', () => {
  it.each([
    ['1.2.3', '- Faster.'],
    ['1.2.30', '- Older.'],
    ['1.2', ''],
    ['', ''],
  ])('of %s', (version, expected) => {
    expect(readSection(CHANGELOG, version)).toBe(expected)
  })
})

describe('majorBranchName', () => {
  it.each([
    ['v0.1.0', 'v0'],
    ['v12.0.0', 'v12'],
    ['v1.0.0-rc.1', ''],
    ['latest', ''],
  ])('of %s', (tag, expected) => {
    expect(majorBranchName(tag)).toBe(expected)
  })
})

/** A clone as actions/checkout leaves it: one commit checked out, the remote's branches beside it. */
function releasable() {
  const person = userRepository({ empty: true })
  const files = {
    'package.json': JSON.stringify({ version: '1.2.3', ...projectLinks(REPOSITORY) }),
    'package-lock.json': '{"version":"1.2.3"}',
    'CHANGELOG.md': CHANGELOG,
    '.github/CODEOWNERS': renderCodeowners(['@octocat']),
  }
  const first = person.commit('first', { 'a.txt': 'a' })
  const second = person.commit('second', files)
  const know = (branch: string, commit: string) =>
    person.git('update-ref', `refs/remotes/origin/${branch}`, commit)
  know('main', second)
  return { ...person, first, second, know }
}
const VARIABLES = { GITHUB_REF_NAME: 'v1.2.3', GITHUB_REPOSITORY: REPOSITORY, DEFAULT_BRANCH: 'main' }

describe('readFacts', () => {
  it('reads the files and the history of the checkout', () => {
    const { dir } = releasable()
    expect(readFacts(dir, VARIABLES)).toEqual(READY)
  })

  it('notices a commit that is not on the default branch', () => {
    const person = releasable()
    person.commit('third', { 'b.txt': 'b' })
    person.know('v1', person.second)
    expect(readFacts(person.dir, VARIABLES)).toMatchObject({
      isOnDefaultBranch: false,
      containsMajorBranch: true,
    })
  })

  it('notices a major branch that is ahead', () => {
    const { dir, git, first, second, know } = releasable()
    know('v1', second)
    git('checkout', '-q', '--detach', first)
    git('checkout', '-q', second, '--', '.')
    expect(readFacts(dir, VARIABLES)).toMatchObject({ isOnDefaultBranch: true, containsMajorBranch: false })
  })
})

/** Node 20 does not run TypeScript; release.yml takes Node 24. */
const NODE = [process.env['NODE24_BINARY'] ?? '', process.execPath].find(path => runsTypescript(path)) ?? ''

function runsTypescript(node: string): boolean {
  try {
    execFileSync(node, [join(ROOT, '.github/scripts/project-links.ts')], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('the script as release.yml starts it', () => {
  const run = (dir: string, env: Record<string, string>) =>
    execFileSync(NODE, [join(ROOT, '.github/scripts/check-release.ts'), join(dir, 'out/notes.md')], {
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '', GITHUB_OUTPUT: join(dir, 'output'), ...env },
      encoding: 'utf8',
      stdio: 'pipe',
    })

  it('puts out what the other jobs need, and the notes', ({ skip }) => {
    if (NODE === '') skip('no Node here runs TypeScript; NODE24_BINARY names one')
    const { dir } = releasable()
    expect(run(dir, VARIABLES)).toBe('1.2.3 may be published to npm as latest.\n')
    expect(readFileSync(join(dir, 'out/notes.md'), 'utf8')).toBe('- Faster.\n')
    expect(readFileSync(join(dir, 'output'), 'utf8')).toBe(
      'channel=latest\nprerelease=false\nmajor-branch=v1\n',
    )
  })

  it('ends with what is wrong and how to fix it', ({ skip }) => {
    if (NODE === '') skip('no Node here runs TypeScript; NODE24_BINARY names one')
    const { dir } = releasable()
    expect(() => run(dir, { ...VARIABLES, GITHUB_REPOSITORY: 'fork/winnow' })).toThrow(
      /error: package.json does not name fork\/winnow in .*\n {2}fix: Run node .github\/scripts\/set-repository.ts fork\/winnow/,
    )
    expect(existsSync(join(dir, 'output'))).toBe(false)
  })
})

describe('setRepository', () => {
  it('writes what checkRelease asks for', () => {
    const { dir } = releasable()
    expect(setRepository(dir, ['fork/winnow', '@ada', '@fork/reviewers'])).toEqual({
      written: [
        'Wrote repository, homepage and bugs of fork/winnow into package.json.',
        'Wrote .github/CODEOWNERS: @ada, @fork/reviewers.',
      ],
    })
    const facts = readFacts(dir, { ...VARIABLES, GITHUB_REPOSITORY: 'fork/winnow' })
    expect(checkRelease(facts).problems).toEqual([])
    expect(facts.codeowners).toMatch(/^\* @ada @fork\/reviewers$/m)
  })

  it.each([
    [[], '"" is not owner/name'],
    [['https://github.com/octo/winnow', '@a'], '"https://github.com/octo/winnow" is not owner/name'],
    [['octo/winnow'], 'no owner is given'],
    [['octo/winnow', 'ada'], '"ada" is not @person or @organisation/team'],
  ])('refuses %j', (given, error) => {
    expect(setRepository(scratch('winnow-links-'), given)).toEqual({ error })
  })
})
