import { UserError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import { buildSignerIsolation } from './isolation.ts'
import { buildCommitIdentity, type NewCommit } from './objects.ts'
import { GitExit, type GitRunner, type GitTask, SilentRemote } from './runner.ts'
import { createNetworkRunner } from './shell-runner.ts'

// The user's own git signs and verifies, with the user's keys and configuration: user.signingkey, gpg.format,
// gpg.program, gpg.ssh.allowedSignersFile and the others work as they do for `git commit -S`.

export type SignatureFormat = 'ssh' | 'gpg'

export interface CommitSignature {
  commit: Oid
  /** The verified signer; null when the signature does not count, with the reason in `why`. */
  signer: string | null
  why: string | null
}

export interface TagSignature {
  target: Oid
  name: string
  signer: string | null
  why: string | null
}

export interface Signer {
  /** Writes a signed commit, or throws before anything refers to it. */
  signCommit(commit: NewCommit, format: SignatureFormat): Promise<Oid>
  /** Writes a signed tag object with the person's own name and default format. */
  signTag(tag: { name: string; target: Oid; message: string }): Promise<Oid>
  /** Verifies every commit that `tip` contains, newest first. */
  verifyCommits(tip: Oid): Promise<CommitSignature[]>
  verifyTag(oid: Oid): Promise<TagSignature>
}

interface SignerOptions {
  /** winnow's own repository, which holds the objects. */
  dir: string
  /** The user's repository, whose configuration applies. */
  configDir: string | null
  env: Readonly<Record<string, string>>
}

/** A program that waits longer than this waits for a person, for example for a passphrase. */
const SILENCE_SECONDS = 60

type Settings = ReadonlyMap<string, string>

export function createSigner({ dir, configDir, env }: SignerOptions): Signer {
  let opened: Promise<{ runner: GitRunner; settings: Settings }> | null = null

  /** Copies the settings of the user's repository, because git reads those of winnow's repository here. */
  async function openOnce(): Promise<{ runner: GitRunner; settings: Settings }> {
    const limits = { silenceSeconds: SILENCE_SECONDS, stop: null }
    const isolation = buildSignerIsolation(configDir ?? dir, env)
    const settings = await createNetworkRunner(isolation, limits).run(SIGNING_SETTINGS)
    const configArgs = [...settings].flatMap(([key, value]) => ['-c', `${key}=${value}`])
    const runner = createNetworkRunner(
      {
        ...isolation,
        env: { ...isolation.env, GIT_DIR: dir },
        configArgs: [...isolation.configArgs, ...configArgs],
      },
      limits,
    )
    return { runner, settings }
  }
  const open = () => (opened ??= openOnce())

  return {
    async signCommit(commit, format) {
      const { runner, settings } = await open()
      const key = chooseKey(settings, format)
      return explainFailure('sign the ledger commit', () => runner.run(buildCommitTask(commit, format, key)))
    },
    async signTag({ name, target, message }) {
      const { runner, settings } = await open()
      const format = settings.get('gpg.format') === 'ssh' ? 'ssh' : 'gpg'
      const key = chooseKey(settings, format)
      const args = ['tag', '--force', `--local-user=${key}`, `--message=${message}`, '--', name, target]
      // The key says who signed. Without a name git would refuse to write the tag.
      const env = {
        GIT_COMMITTER_NAME: settings.get('user.name') ?? 'winnow',
        GIT_COMMITTER_EMAIL: settings.get('user.email') ?? 'winnow@localhost',
      }
      await explainFailure('sign the tag', () => runner.run({ args, env, parse: () => undefined }))
      return runner.run({
        args: ['rev-parse', '--verify', `refs/tags/${name}`],
        parse: ({ stdout }) => stdout.trim(),
      })
    },
    async verifyCommits(tip) {
      const { runner } = await open()
      return runner.run(buildVerifyTask(tip))
    },
    async verifyTag(oid) {
      const { runner } = await open()
      const { target, name } = await runner.run({
        args: ['cat-file', 'tag', oid],
        parse: ({ stdout }) => ({
          target: /^object ([0-9a-f]+)$/m.exec(stdout)?.[1] ?? '',
          name: /^tag (.+)$/m.exec(stdout)?.[1] ?? '',
        }),
      })
      const { signer, why } = await runner.run(buildVerifyTagTask(oid))
      return { target, name, signer, why }
    },
  }
}

// Settings

const SIGNING_SETTINGS: GitTask<Settings> = {
  args: ['config', '--null', '--get-regexp', '^(gpg\\.|user\\.(signingkey|name|email)$)'],
  answers: [1, 128],
  parse: ({ stdout }) =>
    new Map(
      stdout
        .split('\0')
        .filter(entry => entry.includes('\n'))
        .map(entry => {
          const at = entry.indexOf('\n')
          return [entry.slice(0, at), entry.slice(at + 1)] as const
        }),
    ),
}

/** git would look for a key of winnow's own identity, which no person has. */
function chooseKey(settings: Settings, format: SignatureFormat): string {
  const key = settings.get('user.signingkey')
  if (key !== undefined && key !== '') return key
  const email = settings.get('user.email')
  if (format === 'gpg' && email !== undefined) return email
  throw new UserError(`git has no key to sign with (${format})`, {
    fix:
      format === 'ssh'
        ? 'git config user.signingkey ~/.ssh/id_ed25519.pub, and give the key to ssh-agent if it has a passphrase'
        : 'git config user.signingkey <key id>; gpg --list-secret-keys lists your keys',
  })
}

// Signing

function buildCommitTask(commit: NewCommit, format: SignatureFormat, key: string): GitTask<Oid> {
  const { message, tree, parents, date } = commit
  const at = `@${date} +0000`
  const parentArgs = parents.flatMap(parent => ['-p', parent])
  return {
    args: [
      '-c',
      `gpg.format=${format === 'ssh' ? 'ssh' : 'openpgp'}`,
      '-c',
      'i18n.commitEncoding=UTF-8',
      'commit-tree',
      `-S${key}`,
      ...parentArgs,
      '-m',
      message,
      tree,
    ],
    env: buildCommitIdentity(at),
    parse: ({ stdout }) => stdout.trim(),
  }
}

async function explainFailure<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof GitExit || error instanceof SilentRemote)) throw error
    const words =
      error instanceof GitExit
        ? error.output.stderr.trim()
        : `the signing program gave no answer for ${SILENCE_SECONDS} s`
    throw new UserError(`git could not ${what}, so nothing was pushed: ${words}`, {
      fix: 'make `git commit -S` work here: unlock the key (ssh-add, or gpg-agent), or set user.signingkey to a key that you have',
      cause: error,
    })
  }
}

// Verification

/** Without this file git says of an ssh signature that there is none. */
export const NO_ALLOWED_SIGNERS =
  'its signature cannot be checked: git config gpg.ssh.allowedSignersFile <file> names the keys that you trust'
export const NO_SIGNATURE = 'it has no signature'

/** Grades of `%G?` other than G, which is a good signature of a trusted key. */
const GRADES: Readonly<Record<string, string>> = {
  N: NO_SIGNATURE,
  B: 'its signature is wrong',
  U: 'its signature is good, but git does not trust the key',
  X: 'its signature has expired',
  Y: 'its key has expired',
  R: 'its key was revoked',
}
const UNCHECKED = 'its signature cannot be checked; git log --show-signature says why'

/** Names of signers come from the user's keyring or allowed signers file, so no commit can write into this output. */
const FORMAT = '%x01%H%x00%G?%x00%GS%x00%GF'

function buildVerifyTask(tip: Oid): GitTask<CommitSignature[]> {
  return {
    args: ['log', '--no-show-signature', `--format=${FORMAT}`, tip],
    parse: ({ stdout }) =>
      stdout
        .split('\u0001')
        .slice(1)
        .map(entry => {
          const [commit = '', grade = 'N', name = '', key = ''] = entry.trimEnd().split('\0')
          if (grade === 'G') return { commit, signer: name || key, why: null }
          return { commit, signer: null, why: GRADES[grade] ?? UNCHECKED }
        }),
  }
}

/** Only a key that git trusts counts: listed in the allowed signers file, or trusted in the gpg keyring. */
function buildVerifyTagTask(oid: Oid): GitTask<{ signer: string | null; why: string | null }> {
  return {
    args: ['-c', 'gpg.minTrustLevel=marginal', 'verify-tag', '--raw', oid],
    answers: [1, 128],
    parse({ exitCode, stdout, stderr }) {
      const words = `${stdout}\n${stderr}`
      const signer =
        /^Good "git" signature for (\S+)/m.exec(words)?.[1] ??
        /^\[GNUPG:\] GOODSIG \S+ (.+)$/m.exec(words)?.[1] ??
        null
      if (exitCode === 0 && signer !== null) return { signer, why: null }
      return { signer: null, why: describeTagFailure(words) }
    },
  }
}

function describeTagFailure(words: string): string {
  if (/allowedSignersFile/.test(words)) return NO_ALLOWED_SIGNERS
  if (/no signature found/.test(words)) return NO_SIGNATURE
  if (/REVKEYSIG|revoked/i.test(words)) return 'its key was revoked'
  if (/EXPKEYSIG|KEYEXPIRED/.test(words)) return 'its key has expired'
  if (/BADSIG|incorrect signature|Could not verify signature/i.test(words)) return 'its signature is wrong'
  if (/GOODSIG|Good "git" signature/.test(words)) return 'git does not trust its key'
  return `its signature cannot be checked (${words.trim().split('\n')[0] ?? ''})`
}
