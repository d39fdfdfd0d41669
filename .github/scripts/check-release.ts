/**
 * Decides whether the tag that started release.yml may be published, and writes the release notes into the file that it
 * is given. It needs Node 22.18 or newer, which runs TypeScript as it is, and no package: it runs before anything is installed.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv, cwd, env, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { CODEOWNERS, hasOwners, projectLinks } from './project-links.ts'

export interface ReleaseFacts {
  tag: string
  /** `owner/name` of the repository that the workflow runs in. */
  repository: string
  manifest: Record<string, unknown>
  lockedVersion: unknown
  changelog: string
  codeowners: string
  /** The tagged commit is on the default branch. */
  isOnDefaultBranch: boolean
  /** The branch of the major version does not exist yet, or this commit contains all of it. */
  containsMajorBranch: boolean
}

export interface Release {
  version: string
  /** npm's dist-tag: `npm install git-winnow` takes `latest`. */
  channel: 'latest' | 'next'
  /** `v1`; empty for a prerelease, which moves no branch. */
  majorBranch: string
  notes: string
}

export interface Problem {
  what: string
  fix: string
}

const VERSION = /^v((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?)$/

export function checkRelease(facts: ReleaseFacts): { release: Release; problems: readonly Problem[] } {
  const version = VERSION.exec(facts.tag)?.[1] ?? ''
  const release: Release = {
    version,
    channel: version.includes('-') ? 'next' : 'latest',
    majorBranch: majorBranchName(facts.tag),
    notes: readSection(facts.changelog, version),
  }
  return { release, problems: [...findVersionProblems(facts, release), ...findRepositoryProblems(facts)] }
}

/** `v1` of v1.2.3, and nothing of v1.2.3-rc.1. */
export function majorBranchName(tag: string): string {
  const version = VERSION.exec(tag)?.[1] ?? '-'
  return version.includes('-') ? '' : `v${version.split('.')[0]}`
}

function findVersionProblems(facts: ReleaseFacts, release: Release): Problem[] {
  const { tag, manifest, lockedVersion } = facts
  const { version, majorBranch, notes } = release
  if (version === '')
    return [{ what: `The tag ${tag} is not a version.`, fix: 'Push a tag like v1.2.3 or v1.2.3-rc.1.' }]
  const problems: Problem[] = []
  const found = { 'package.json': manifest['version'], 'package-lock.json': lockedVersion }
  for (const [file, foundVersion] of Object.entries(found)) {
    if (foundVersion === version) continue
    problems.push({
      what: `${file} has version ${String(foundVersion)}, and the tag is ${tag}.`,
      fix: `Run npm version --no-git-tag-version ${version}, commit it, and tag that commit.`,
    })
  }
  if (notes === '')
    problems.push({
      what: `CHANGELOG.md has no section for ${version}.`,
      fix: `Rename "## Unreleased" to "## ${version}" and commit that before you tag.`,
    })
  if (!facts.isOnDefaultBranch)
    problems.push({
      what: `The commit of ${tag} is not on the default branch.`,
      fix: 'Merge it first, and tag the commit on the default branch.',
    })
  if (!facts.containsMajorBranch)
    problems.push({
      what: `The branch ${majorBranch} has commits that ${tag} does not contain.`,
      fix: `Release from a commit that contains ${majorBranch}: that branch is only ever moved forward.`,
    })
  return problems
}

function findRepositoryProblems({ repository, manifest, codeowners }: ReleaseFacts): Problem[] {
  const fix = `Run node .github/scripts/set-repository.ts ${repository} @OWNER and commit what it writes.`
  const links = Object.entries(projectLinks(repository))
  const wrong = links.filter(([key, expected]) => JSON.stringify(manifest[key]) !== JSON.stringify(expected))
  const keys = wrong.map(([key]) => key).join(', ')
  const problems: Problem[] = []
  if (wrong.length > 0) problems.push({ what: `package.json does not name ${repository} in ${keys}.`, fix })
  if (!hasOwners(codeowners)) problems.push({ what: `${CODEOWNERS} names no owner.`, fix })
  return problems
}

/** The text below `## 1.2.3`, with a date after it or not, up to the next version. */
export function readSection(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find(text => text.split(/\s/, 1)[0] === version && version !== '') ?? ''
  return section.slice(section.indexOf('\n') + 1).trim()
}

/** Reads the checkout in `directory`, which needs full history, and the environment of a GitHub Actions job. */
export function readFacts(
  directory: string,
  variables: Readonly<Record<string, string | undefined>>,
): ReleaseFacts {
  const { GITHUB_REF_NAME: tag = '', GITHUB_REPOSITORY: repository = '' } = variables
  const { DEFAULT_BRANCH: branch = 'main' } = variables
  const read = (path: string) => {
    const file = join(directory, path)
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }
  const isAncestor = (older: string, newer: string) =>
    git(directory, ['merge-base', '--is-ancestor', older, newer]).ok
  const major = `refs/remotes/origin/${majorBranchName(tag)}`
  const hasMajor = git(directory, ['rev-parse', '--verify', '--quiet', major]).ok
  return {
    tag,
    repository,
    manifest: JSON.parse(read('package.json')),
    lockedVersion: JSON.parse(read('package-lock.json')).version,
    changelog: read('CHANGELOG.md'),
    codeowners: read(CODEOWNERS),
    isOnDefaultBranch: isAncestor('HEAD', `refs/remotes/origin/${branch}`),
    containsMajorBranch: !hasMajor || isAncestor(major, 'HEAD'),
  }
}

function git(directory: string, args: readonly string[]): { ok: boolean } {
  try {
    execFileSync('git', args, { cwd: directory, stdio: 'ignore' })
    return { ok: true }
  } catch {
    return { ok: false }
  }
}

function main(): number {
  const { release, problems } = checkRelease(readFacts(cwd(), env))
  for (const { what, fix } of problems) console.error(`error: ${what}\n  fix: ${fix}`)
  if (problems.length > 0) return 1
  const { version, channel, majorBranch, notes } = release
  const [file] = argv.slice(2)
  if (file !== undefined) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${notes}\n`)
  }
  const outputs = { channel, prerelease: channel === 'next', 'major-branch': majorBranch }
  const lines = Object.entries(outputs).map(([name, value]) => `${name}=${value}\n`)
  appendFileSync(env['GITHUB_OUTPUT'] ?? '/dev/null', lines.join(''))
  console.log(`${version} may be published to npm as ${channel}.`)
  return 0
}

if (argv[1] === fileURLToPath(import.meta.url)) exit(main())
