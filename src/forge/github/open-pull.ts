import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import type { ForgeAnswer, NewPull, ForgeRefusalCode } from '../port.ts'
import { type GithubClient, parseAnswer } from './client.ts'
import { truncateBody } from './fitting.ts'
import { readBranch } from './read-pulls.ts'

const opened = z.object({ number: z.number() })

/** A pull request for a branch; one that is open in the same words already is the same one (invariant 7). */
export async function openPull(client: GithubClient, wanted: NewPull): Promise<ForgeAnswer> {
  try {
    const number = await createPull(client, wanted)
    if (wanted.labels?.length) await addLabels(client, number, wanted.labels)
    return { ok: true, number }
  } catch (error) {
    if (error instanceof ForgeError && error.detail.status === 422)
      return resolveOpenError(client, wanted, error)
    throw error
  }
}

async function createPull(client: GithubClient, wanted: NewPull): Promise<number> {
  const { branch, base, title, body, draft = false } = wanted
  const values = { ...client.where, head: branch, base, title, body: truncateBody(body) }
  try {
    const { data } = await client.request('POST /repos/{owner}/{repo}/pulls', { ...values, draft })
    return parseAnswer(opened, data, 'a new pull request').number
  } catch (error) {
    if (draft && hasErrorText(error, /Draft pull requests are not supported/)) {
      return createPull(client, { ...wanted, draft: false })
    }
    throw error
  }
}

export async function addLabels(
  client: GithubClient,
  number: number,
  labels: readonly string[],
): Promise<void> {
  const values = { ...client.where, issue_number: number, labels: [...labels] }
  await client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', values)
}

async function resolveOpenError(
  client: GithubClient,
  wanted: NewPull,
  error: ForgeError,
): Promise<ForgeAnswer> {
  const { branch, base } = wanted
  if (hasErrorText(error, /pull request already exists/)) return findOpenPull(client, wanted)
  if (hasErrorText(error, /No commits between/))
    return refuseOpen('nothing-new', `${branch} has no commit that ${base} lacks`)
  if (hasErrorText(error, /"field":"head"/)) return refuseOpen('no-branch', `there is no branch ${branch}`)
  if (hasErrorText(error, /"field":"base"/))
    return refuseOpen('no-base', `there is no branch ${base} to pull into`)
  throw error
}

/** Opened by an attempt whose answer was lost, or by somebody else. */
async function findOpenPull(client: GithubClient, wanted: NewPull): Promise<ForgeAnswer> {
  const { branch, title, body } = wanted
  const twin = await readBranch(client, wanted)
  if (twin?.pull.state !== 'open')
    return refuseOpen('duplicate', `a pull request is already open for ${branch}`)
  const { pull, mine } = twin
  const same = mine && pull.title === title && pull.body === truncateBody(body)
  if (!same) return refuseOpen('duplicate', `#${pull.number} is already open for ${branch}`, pull.number)
  const missing = (wanted.labels ?? []).filter(label => !pull.labels.includes(label))
  if (missing.length > 0) await addLabels(client, pull.number, missing)
  return { ok: true, number: pull.number }
}

function refuseOpen(code: ForgeRefusalCode, message: string, number: number | null = null): ForgeAnswer {
  return { ok: false, code, number, message }
}

function hasErrorText(error: unknown, words: RegExp): boolean {
  return error instanceof ForgeError && words.test(error.detail.output ?? '')
}
