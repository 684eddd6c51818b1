/** Repositories and their documents, as the HTTP routes give them. */

import { ask } from "./http";
import { flag, list, number, optional, type Read, record, text } from "./shape";

const repository = record({
  id: text,
  owner: text,
  name: text,
  fullName: text,
  private: flag,
  permissions: record({ pull: flag, push: flag, admin: flag }),
});
export type Repository = Read<typeof repository>;

const channel = record({
  id: text,
  repositoryOwner: text,
  repositoryName: text,
  title: text,
  slug: text,
  updatedAt: text,
  description: optional(text),
  archivedAt: optional(text),
  unansweredDecisions: optional(number),
});
export type Channel = Read<typeof channel>;

const opened = record({ repository, canEdit: flag, canManage: flag, channel });
export type OpenedChannel = Read<typeof opened>;

const page = record({ repository, canEdit: flag, channels: list(channel), nextCursor: optional(text) });
export type ChannelPage = Read<typeof page>;

const repositories = record({ repositories: list(repository) });

export async function listRepositories(signal?: AbortSignal): Promise<Repository[]> {
  return (await ask("/api/repositories", repositories, signaled(signal))).value.repositories;
}

export interface PageOf {
  owner: string;
  repository: string;
  query: string;
  cursor?: string | undefined;
}

export async function listChannels(
  { owner, repository, query, cursor }: PageOf,
  signal?: AbortSignal,
): Promise<ChannelPage> {
  const search = new URLSearchParams();
  if (query !== "") search.set("query", query);
  if (cursor !== undefined) search.set("cursor", cursor);
  const path = `${repositoryPath(owner, repository)}/channels`;
  return (await ask(search.size > 0 ? `${path}?${search}` : path, page, signaled(signal))).value;
}

/** The new document and the address to open it under. */
export async function createChannel(
  owner: string,
  repository: string,
): Promise<OpenedChannel & { location: string | null }> {
  const answer = await ask(`${repositoryPath(owner, repository)}/channels`, opened, { method: "POST", body: {} });
  return { ...answer.value, location: answer.location };
}

export async function openBySlug(
  owner: string,
  repository: string,
  slug: string,
  signal?: AbortSignal,
): Promise<OpenedChannel> {
  const path = `${repositoryPath(owner, repository)}/documents/${encodeURIComponent(slug)}`;
  return (await ask(path, opened, signaled(signal))).value;
}

export async function openById(id: string, signal?: AbortSignal): Promise<OpenedChannel> {
  return (await ask(`/api/channels/${encodeURIComponent(id)}`, opened, signaled(signal))).value;
}

export async function renameChannel(id: string, title: string, signal?: AbortSignal): Promise<OpenedChannel> {
  const path = `/api/channels/${encodeURIComponent(id)}`;
  return (await ask(path, opened, { method: "PATCH", body: { title }, ...signaled(signal) })).value;
}

function repositoryPath(owner: string, repository: string): string {
  return `/api/repositories/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}`;
}

function signaled(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
