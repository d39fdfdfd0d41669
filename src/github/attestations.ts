import { Buffer } from 'node:buffer'
import { type Bundle, bundleFromJSON } from '@sigstore/bundle'
import { ASN1Obj } from '@sigstore/core'
import { TrustedRoot } from '@sigstore/protobuf-specs'
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify'
import { z } from 'zod'
import { ForgeError, UserError } from '../errors.ts'
import type { Fetch } from '../ports.ts'
import publicGoodRoot from './sigstore-trusted-root.json' with { type: 'json' }

/** A statement whose signature, certificate and time were verified. The caller decides whether to trust its signer. */
export interface SignedStatement {
  subjects: { name: string; sha256: string }[]
  /** The workflow file and the ref that it was read from, as `https://…/.github/workflows/x.yml@refs/heads/main`. */
  workflow: string
  /** The address of the repository whose run signed. */
  repository: string
  /** The commit that the run was started at. */
  commit: string
  /** `https://…/actions/runs/<id>/attempts/<n>` */
  run: string
}

export interface AttestationService {
  /** The address of the repository on the web, which certificates name. */
  repositoryUrl: string
  /** Returns the verified statements about a file with this digest, and why others do not count. */
  find(sha256: string): Promise<{ statements: SignedStatement[]; rejected: string[] }>
}

interface AttestationSource {
  apiUrl: string
  webUrl: string
  /** owner/name */
  repository: string
  /** Empty for public repositories. */
  token: string
  web: Fetch
  /** JSON lines as `gh attestation trusted-root` prints them; null: Sigstore's public instance. */
  trustedRoots: string | null
}

/** Reads artifact attestations from GitHub and verifies them here: GitHub's answer itself proves nothing. */
export function createAttestationService(source: AttestationSource): AttestationService {
  const verifiers = readTrustedRoots(source.trustedRoots).map(createVerifier)
  return {
    repositoryUrl: `${source.webUrl}/${source.repository}`,
    async find(sha256) {
      const statements: SignedStatement[] = []
      const rejected: string[] = []
      for (const bundle of await fetchBundles(source, sha256)) {
        const verified = verifyBundle(verifiers, bundle)
        if (typeof verified === 'string') rejected.push(verified)
        else statements.push(verified)
      }
      return { statements, rejected }
    },
  }
}

// Reading

const answer = z.looseObject({ attestations: z.array(z.looseObject({ bundle: z.unknown() })) })

/** The version of the API that answers with the bundles themselves. */
const API_VERSION = '2022-11-28'

async function fetchBundles(source: AttestationSource, sha256: string): Promise<unknown[]> {
  const { apiUrl, repository, token, web } = source
  const url = `${apiUrl}/repos/${repository}/attestations/sha256:${sha256}?per_page=100`
  const headers = {
    accept: 'application/vnd.github+json',
    'user-agent': 'git-winnow',
    'x-github-api-version': API_VERSION,
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
  }
  const response = await request(web, url, headers)
  if (response.status === 404) return []
  if (!response.ok) {
    throw new ForgeError(
      `GitHub answered ${response.status} to the question for attestations of ${repository}; a private repository needs GH_TOKEN with attestations: read`,
      { status: response.status },
    )
  }
  // A connection that breaks now, or text that is no JSON, is no answer either.
  const parsed = answer.safeParse(await response.json().catch(() => null))
  if (!parsed.success)
    throw new ForgeError(`GitHub answered with something else than attestations of ${repository}`)
  return parsed.data.attestations.map(({ bundle }) => bundle)
}

const TIMEOUT_MS = 30_000

async function request(web: Fetch, url: string, headers: Record<string, string>): Promise<Response> {
  try {
    return await web(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ForgeError(`winnow could not ask GitHub for attestations: ${why}`, { output: why })
  }
}

// Verifying

/** GitHub's own instance for private repositories has timestamps and no public logs, so the roots differ. */
function createVerifier(root: TrustedRoot): Verifier {
  return new Verifier(toTrustMaterial(root), {
    ctlogThreshold: root.ctlogs.length > 0 ? 1 : 0,
    tlogThreshold: root.tlogs.length > 0 ? 1 : 0,
    timestampThreshold: 1,
  })
}

function readTrustedRoots(text: string | null): TrustedRoot[] {
  if (text === null) return [TrustedRoot.fromJSON(publicGoodRoot)]
  try {
    return text
      .split('\n')
      .filter(line => line.trim() !== '')
      .map(line => TrustedRoot.fromJSON(JSON.parse(line)))
  } catch (cause) {
    throw new UserError('the trusted roots cannot be read', {
      fix: 'gh attestation trusted-root > roots.jsonl writes them: one JSON document a line',
      cause,
    })
  }
}

/** Returns the reason instead if no trusted root verifies the bundle. */
function verifyBundle(verifiers: readonly Verifier[], json: unknown): SignedStatement | string {
  let why = 'no trusted root is known'
  for (const verifier of verifiers) {
    try {
      const bundle = bundleFromJSON(json)
      const { identity } = verifier.verify(toSignedEntity(bundle))
      const issuer = identity?.extensions?.issuer ?? ''
      if (!GITHUB_ISSUER.test(issuer))
        return `it was signed for ${issuer || 'nobody'}, not for GitHub Actions`
      return readStatement(bundle, {
        workflow: identity?.subjectAlternativeName ?? '',
        repository: readExtension(identity?.oids, SOURCE_REPOSITORY),
        commit: readExtension(identity?.oids, SOURCE_COMMIT),
        run: readExtension(identity?.oids, RUN),
      })
    } catch (error) {
      why = error instanceof Error ? error.message : String(error)
    }
  }
  return why
}

/** An enterprise may have an issuer of its own below this address. */
const GITHUB_ISSUER = /^https:\/\/token\.actions\.githubusercontent\.com(?:\/[\w-]+)?$/

/** Extensions of the certificate: https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md */
const SOURCE_REPOSITORY = '1.3.6.1.4.1.57264.1.12'
const SOURCE_COMMIT = '1.3.6.1.4.1.57264.1.13'
const RUN = '1.3.6.1.4.1.57264.1.21'

type Extensions = { oid?: { id: number[] } | undefined; value: Uint8Array }[] | undefined

function readExtension(extensions: Extensions, wanted: string): string {
  const found = extensions?.find(({ oid }) => oid?.id.join('.') === wanted)
  return found === undefined ? '' : ASN1Obj.parseBuffer(Buffer.from(found.value)).value.toString('utf8')
}

const statementSchema = z.looseObject({
  subject: z.array(
    z.looseObject({ name: z.string(), digest: z.looseObject({ sha256: z.string().optional() }) }),
  ),
})

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

function readStatement(bundle: Bundle, signer: Omit<SignedStatement, 'subjects'>): SignedStatement | string {
  if (bundle.content.$case !== 'dsseEnvelope' || bundle.content.dsseEnvelope.payloadType !== PAYLOAD_TYPE)
    return 'it holds no in-toto statement'
  const { payload } = bundle.content.dsseEnvelope
  const { subject } = statementSchema.parse(JSON.parse(payload.toString('utf8')))
  const subjects = subject.flatMap(({ name, digest: { sha256 } }) =>
    sha256 === undefined ? [] : [{ name, sha256 }],
  )
  return { ...signer, subjects }
}
