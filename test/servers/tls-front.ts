import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { scratch } from '../git/scratch.ts'
import { listeningForTest } from './loopback.ts'

/** https of a name that exists nowhere, before an http server on loopback; whoever trusts `certificate` believes it. */
export async function tlsFront(name: string, target: string): Promise<{ port: number; certificate: string }> {
  const dir = scratch()
  const [key, certificate] = [join(dir, 'key.pem'), join(dir, 'certificate.pem')]
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  const made = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' })
  const server = createServer(
    { key: readFileSync(key), cert: readFileSync(certificate) },
    (incoming, outgoing) => {
      const { method, headers, url = '/' } = incoming
      const there = request(new URL(url, target), { method, headers }, answer => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      there.on('error', () => outgoing.destroy())
      incoming.pipe(there)
    },
  )
  return { port: await listeningForTest(server), certificate }
}
