"""A client on the official Python SDK: starts the agent that its arguments name, plays the scenario, writes what came of it as JSON."""

import asyncio
import json
import sys
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process, text_block
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    CreateTerminalResponse,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
)


class ScenarioClient:
    def __init__(self) -> None:
        self.said: dict[str, list[str]] = {}
        self.heard = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        text = getattr(getattr(update, "content", None), "text", update.session_update)
        self.said.setdefault(session_id, []).append(text)
        self.heard.set()

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id="yes"))

    async def read_text_file(
        self, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> ReadTextFileResponse:
        with open(path, encoding="utf8") as file:
            lines = file.read().split("\n")
        start = (line or 1) - 1
        return ReadTextFileResponse(content="\n".join(lines[start : None if limit is None else start + limit]))

    async def write_text_file(self, path: str, content: str, **_: Any) -> None:
        with open(path, "w", encoding="utf8") as file:
            file.write(content)

    async def create_terminal(self, **_: Any) -> CreateTerminalResponse:
        return CreateTerminalResponse(terminal_id="terminal-1")

    async def wait_for_terminal_exit(self, **_: Any) -> WaitForTerminalExitResponse:
        return WaitForTerminalExitResponse(exit_code=0)

    async def terminal_output(self, **_: Any) -> TerminalOutputResponse:
        return TerminalOutputResponse(output="42\n", truncated=False)

    async def release_terminal(self, **_: Any) -> None:
        return None


async def main() -> None:
    folder, *command = sys.argv[1:]
    client = ScenarioClient()
    async with spawn_agent_process(client, command[0], *command[1:]) as (agent, _):
        begun = await agent.initialize(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(
                fs=FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
            ),
        )
        session = await agent.new_session(cwd=folder, mcp_servers=[])
        other = await agent.new_session(cwd=folder, mcp_servers=[])

        async def turn(text: str, session_id: str = session.session_id) -> list[str]:
            client.said.pop(session_id, None)
            try:
                end = (await agent.prompt(session_id=session_id, prompt=[text_block(text)])).stop_reason
            except RequestError as error:
                end = f"{error.code} {error}"
            return [*client.said.get(session_id, []), end]

        async def code(asked: Any) -> int | None:
            try:
                await asked
                return None
            except RequestError as error:
                return error.code

        both, of_other = await asyncio.gather(turn("count 3"), turn("count 2", other.session_id))
        client.heard.clear()
        waiting = asyncio.create_task(turn("wait"))
        await client.heard.wait()
        await agent.cancel(session_id=session.session_id)
        found = {
            "agent": begun.agent_info.name if begun.agent_info else None,
            "protocolVersion": begun.protocol_version,
            "modes": [mode.id for mode in session.modes.available_modes] if session.modes else None,
            "both": both,
            "ofOther": of_other,
            "cancelled": await waiting,
            "write": await turn(f"write {folder}/a.txt"),
            "read": await turn(f"read {folder}/a.txt"),
            "permit": await turn("permit"),
            "run": await turn("run"),
            "refuse": await turn("refuse"),
            "fail": await turn("fail"),
            "stop": await turn("stop max_tokens"),
            "mode": {} if await code(agent.set_session_mode(session_id=session.session_id, mode_id="code")) is None else 1,
            "noMode": await code(agent.set_session_mode(session_id=session.session_id, mode_id="sleep")),
            "noSession": await code(agent.prompt(session_id="none", prompt=[])),
            "noMethod": await code(agent.ext_method("none", {})),
            "rhyme": await agent.ext_method("poet/rhyme", {"word": "all"}),
        }
        print(json.dumps(found))


asyncio.run(main())
