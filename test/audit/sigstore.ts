import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createServer } from 'node:http'
import { initializeCA, initializeCTLog, initializeTLog } from '@sigstore/mock'
import { dsse } from '@sigstore/core'
import { TrustedRoot } from '@sigstore/protobuf-specs'
import { z } from 'zod'
import type { WrittenSubject } from '../../src/model/attestation.ts'
import { listeningForTest } from '../servers/loopback.ts'

/** What GitHub's token says about the job that signs, and what the statement says. */
export interface TestStatement {
  subjects: readonly WrittenSubject[]
  repository: string
  workflow: string
  commit: string
  run: string
  issuer?: string
}

interface TestSigstore {
  trustedRoot: string
  sign(statement: TestStatement): Promise<TestBundle>
}

export type TestBundle = Awaited<ReturnType<typeof buildBundle>>

const ISSUER = 'https://token.actions.githubusercontent.com'
const OID = '1.3.6.1.4.1.57264.1'

/** A certificate authority and its two logs, as Sigstore's public instance has them. */
export async function createSigstore(): Promise<TestSigstore> {
  const keys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ctLog = await initializeCTLog(keys())
  const ca = await initializeCA(keys(), ctLog)
  const tlog = await initializeTLog('https://rekor.sigstore.dev', keys())
  const validFor = { start: new Date(Date.now() - 60_000) }
  const key = (rawBytes: Buffer) => ({ rawBytes, keyDetails: 5, validFor })
  const logId = (publicKey: Buffer) => ({ keyId: createHash('sha256').update(publicKey).digest() })
  const log = { hashAlgorithm: 1, checkpointKeyId: undefined, operator: '' }
  const root = TrustedRoot.toJSON({
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [
      {
        ...log,
        baseUrl: 'https://rekor.sigstore.dev',
        publicKey: key(tlog.publicKey),
        logId: logId(tlog.publicKey),
      },
    ],
    ctlogs: [
      {
        ...log,
        baseUrl: 'https://ctfe.sigstore.dev',
        publicKey: key(ctLog.publicKey),
        logId: { keyId: ctLog.logID },
      },
    ],
    certificateAuthorities: [
      {
        subject: { commonName: 'sigstore', organization: 'test' },
        uri: 'https://fulcio.sigstore.dev',
        certChain: { certificates: [{ rawBytes: ca.rootCertificate }] },
        validFor,
        operator: '',
      },
    ],
    timestampAuthorities: [],
  })
  return {
    trustedRoot: JSON.stringify(root),
    async sign(statement) {
      const { publicKey, privateKey } = keys()
      const certificate = await ca.issueCertificate({
        publicKey: publicKey.export({ format: 'der', type: 'spki' }),
        subjectAltName: statement.workflow,
        extensions: [
          { oid: `${OID}.8`, value: statement.issuer ?? ISSUER },
          { oid: `${OID}.12`, value: statement.repository },
          { oid: `${OID}.13`, value: statement.commit },
          { oid: `${OID}.21`, value: statement.run },
        ],
      })
      return buildBundle(statement, certificate, privateKey, entry => tlog.log(entry))
    },
  }
}

const TYPE = 'application/vnd.in-toto+json'

const logEntry = z.object({
  body: z.string(),
  integratedTime: z.number(),
  logID: z.string(),
  logIndex: z.number(),
  verification: z.object({
    signedEntryTimestamp: z.string(),
    inclusionProof: z.object({
      logIndex: z.number(),
      treeSize: z.number(),
      checkpoint: z.string(),
      rootHash: z.string(),
    }),
  }),
})

/** A bundle of version 0.3, as the API of GitHub returns it. */
async function buildBundle(
  { subjects }: TestStatement,
  certificate: Buffer,
  privateKey: KeyObject,
  log: (entry: object) => Promise<object>,
) {
  const payload = Buffer.from(
    JSON.stringify({
      _type: 'https://in-toto.io/Statement/v1',
      subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {},
    }),
  )
  const signature = sign('sha256', dsse.preAuthEncoding(TYPE, payload), privateKey)
  const digest = createHash('sha256').update(payload).digest('hex')
  const pem = `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`
  const [found] = Object.values(
    await log({
      kind: 'dsse',
      apiVersion: '0.0.1',
      spec: {
        envelopeHash: { algorithm: 'sha256', value: digest },
        payloadHash: { algorithm: 'sha256', value: digest },
        signatures: [
          { signature: signature.toString('base64'), verifier: Buffer.from(pem).toString('base64') },
        ],
      },
    }),
  )
  const { body, integratedTime, logID, logIndex, verification } = logEntry.parse(found)
  const { inclusionProof: proof, signedEntryTimestamp } = verification
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: {
      certificate: { rawBytes: certificate.toString('base64') },
      tlogEntries: [
        {
          logIndex: String(logIndex),
          logId: { keyId: Buffer.from(logID, 'hex').toString('base64') },
          kindVersion: { kind: 'dsse', version: '0.0.1' },
          integratedTime: String(integratedTime),
          inclusionPromise: { signedEntryTimestamp },
          inclusionProof: {
            logIndex: String(proof.logIndex),
            rootHash: Buffer.from(proof.rootHash, 'hex').toString('base64'),
            treeSize: String(proof.treeSize),
            hashes: [],
            checkpoint: { envelope: proof.checkpoint },
          },
          canonicalizedBody: body,
        },
      ],
    },
    dsseEnvelope: {
      payload: payload.toString('base64'),
      payloadType: TYPE,
      signatures: [{ sig: signature.toString('base64') }],
    },
  }
}

/** Answers the one question that winnow asks: `GET /repos/{owner}/{repo}/attestations/{subject_digest}`. */
export async function serveAttestations(
  repository: string,
): Promise<{ apiUrl: string; add: (sha256: string, bundle: TestBundle) => void; asked: string[] }> {
  const known = new Map<string, TestBundle[]>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    const digest = pathname.replace(`/repos/${repository}/attestations/sha256:`, '')
    asked.push(digest)
    const bundles = known.get(digest) ?? []
    const attestations = bundles.map(bundle => ({
      bundle,
      repository_id: 1,
      bundle_url: 'https://x.invalid',
    }))
    response.writeHead(bundles.length === 0 ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(bundles.length === 0 ? { message: 'Not Found' } : { attestations }))
  })
  const port = await listeningForTest(server)
  return {
    apiUrl: `http://127.0.0.1:${port}`,
    add: (sha256, bundle) => void known.set(sha256, [...(known.get(sha256) ?? []), bundle]),
    asked,
  }
}

export function randomDigest(): string {
  return randomBytes(32).toString('hex')
}
