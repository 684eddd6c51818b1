// A Hocuspocus server as its documentation builds one: the database extension, two queries, every other setting its default.
//
// Run with PORT and DATABASE_URL in the environment.

import { Database } from "@hocuspocus/extension-database";
import { Server } from "@hocuspocus/server";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query("CREATE TABLE IF NOT EXISTS documents (name text PRIMARY KEY, data bytea NOT NULL)");

const server = new Server({
	address: "127.0.0.1",
	port: Number(process.env.PORT),
	quiet: true,
	extensions: [
		new Database({
			fetch: async ({ documentName }) => {
				const found = await pool.query("SELECT data FROM documents WHERE name = $1", [documentName]);
				return found.rows[0]?.data ?? null;
			},
			store: async ({ documentName, state }) => {
				await pool.query(
					"INSERT INTO documents (name, data) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET data = excluded.data",
					[documentName, state],
				);
			},
		}),
	],
});
await server.listen();
console.log("ready");
