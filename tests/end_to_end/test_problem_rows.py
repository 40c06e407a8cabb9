"""Problems of other tools' users that need the whole machine: daemon, socket, home folder (docs/problems.md)."""

import json


def test_in1_a_chinese_user_name_in_the_path_works_everywhere(machine):
    """IN-1: HOME and workspace below a folder 测试用户: ingest, search and socket, and paths round-trip in JSON."""
    device = machine("测试用户")
    device.write("2026-02-13-学习 记录.md", "- 鹭在池塘里 heron\n")
    device.start()
    device.wait_until(lambda: device.knows("鹭在池塘里 heron"), "the note is in")

    (hit,) = device.hits("鹭")
    code, body = device.get("/v1/status")

    assert [source["file"] for source in hit["sources"]] == ["memory/2026-02-13-学习 记录.md"]
    assert code == 200
    assert json.loads(body)["workspace"] == str(device.workspace.resolve())
